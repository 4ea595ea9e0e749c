package sessions

import "github.com/liaison-bot/liaison/bridge"

// Image is a picture that a model is shown: its Data with their MIMEType, and the
// Width and Height in pixels where they are known.
type Image = bridge.Image

// The bounds of the images of one turn: in number, and in bytes each. Together they
// also have to fit into one message of the bridge, of which evidence is no part.
const (
	MaxImages     = bridge.MaxImages
	MaxImageBytes = bridge.MaxImageBytes
)

// unseenImages is told to a model behind a bridge that takes no images.
const unseenImages = "\n\nThe host could not show you the images that came with this. Say so if the answer depends on them."
