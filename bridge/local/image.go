package local

import (
	"encoding/base64"
	"net/url"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

const (
	// maxImages and maxImageBytes bound the images of one message. 5 MiB is the least
	// that the large providers accept for one image
	// (https://docs.anthropic.com/en/docs/build-with-claude/vision).
	maxImages     = 20
	maxImageBytes = 5 << 20
	// maxImageURL bounds the URL of an image.
	maxImageURL = 8 << 10
)

// imageType is the MIME type of an image, without parameters, and maxImageType
// its most bytes.
var imageType = lazyregexp.New(`^image/[A-Za-z0-9.+-]+$`)

const maxImageType = 70

// readImages checks the images of a message.
func readImages(given []*sdkv1.SdkImage) ([]image, error) {
	if len(given) > maxImages {
		return nil, invalid("message.images has %d entries; at most %d are accepted", len(given), maxImages)
	}
	var out []image
	for i, g := range given {
		var img image
		switch source := g.GetSource().(type) {
		case *sdkv1.SdkImage_Url:
			img.URL = source.Url.GetUrl()
			if len(img.URL) > maxImageURL {
				return nil, invalid("message.images[%d].url has %d bytes; at most %d are accepted", i, len(img.URL), maxImageURL)
			}
			if u, err := url.Parse(img.URL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
				return nil, invalid("message.images[%d].url is not an http or https URL", i)
			}
		case *sdkv1.SdkImage_Data:
			img.Data, img.MIMEType = source.Data.GetData(), source.Data.GetMimeType()
			if len(img.MIMEType) > maxImageType || !imageType.MatchString(img.MIMEType) {
				return nil, invalid("message.images[%d].data.mime_type %.80q is not that of an image", i, img.MIMEType)
			}
			raw, err := base64.StdEncoding.DecodeString(img.Data)
			switch {
			case err != nil:
				return nil, invalid("message.images[%d].data is not base64", i)
			case len(raw) == 0:
				return nil, invalid("message.images[%d].data is empty", i)
			case len(raw) > maxImageBytes:
				return nil, invalid("message.images[%d].data has %d bytes; at most %d are accepted", i, len(raw), maxImageBytes)
			}
		default:
			return nil, invalid("message.images[%d] has neither a url nor data", i)
		}
		out = append(out, img)
	}
	return out, nil
}
