package gen

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

var update = flag.Bool("update", false, "write the golden file again")

// TestContract compares the whole contract (every message, field number, type,
// presence, enum value and method) with a golden file. Other people's programs
// speak it: a difference here is a break of the wire, never a matter of taste.
func TestContract(t *testing.T) {
	var b strings.Builder
	for _, f := range []protoreflect.FileDescriptor{
		sdkv1.File_sdk_v1_sdk_agent_service_proto,
		sdkv1.File_sdk_v1_sdk_bridge_control_service_proto,
		sdkv1.File_sdk_v1_sdk_cursor_service_proto,
		sdkv1.File_sdk_v1_sdk_custom_tool_callback_service_proto,
		sdkv1.File_sdk_v1_sdk_errors_proto,
		sdkv1.File_sdk_v1_sdk_messages_proto,
		sdkv1.File_sdk_v1_sdk_store_callback_service_proto,
	} {
		describeFile(&b, f)
	}

	golden := filepath.Join("testdata", "contract.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	got, wanted := strings.Split(b.String(), "\n"), strings.Split(strings.ReplaceAll(string(want), "\r\n", "\n"), "\n")
	for _, l := range wanted {
		if !slices.Contains(got, l) {
			t.Errorf("missing: %s", l)
		}
	}
	for _, l := range got {
		if !slices.Contains(wanted, l) {
			t.Errorf("not in the contract: %s", l)
		}
	}
}

// describeFile writes one self-contained line per declaration.
func describeFile(b *strings.Builder, f protoreflect.FileDescriptor) {
	for i := range f.Services().Len() {
		s := f.Services().Get(i)
		for j := range s.Methods().Len() {
			m := s.Methods().Get(j)
			stream := ""
			if m.IsStreamingServer() {
				stream = "stream "
			}
			fmt.Fprintf(b, "%s(%s) %s%s\n", m.FullName(), m.Input().Name(), stream, m.Output().Name())
		}
	}
	for i := range f.Enums().Len() {
		e := f.Enums().Get(i)
		for j := range e.Values().Len() {
			v := e.Values().Get(j)
			fmt.Fprintf(b, "%s.%s = %d\n", e.FullName(), v.Name(), v.Number())
		}
	}
	for i := range f.Messages().Len() {
		m := f.Messages().Get(i)
		fmt.Fprintf(b, "%s\n", m.FullName())
		for j := range m.Fields().Len() {
			fmt.Fprintf(b, "%s = %s\n", m.Fields().Get(j).FullName(), describeField(m.Fields().Get(j)))
		}
		for j := range m.ReservedRanges().Len() {
			fmt.Fprintf(b, "%s reserved %d\n", m.FullName(), m.ReservedRanges().Get(j)[0])
		}
		for j := range m.ReservedNames().Len() {
			fmt.Fprintf(b, "%s reserved %s\n", m.FullName(), m.ReservedNames().Get(j))
		}
	}
}

func describeField(f protoreflect.FieldDescriptor) string {
	typ := func(f protoreflect.FieldDescriptor) string {
		switch f.Kind() {
		case protoreflect.MessageKind:
			return string(f.Message().Name())
		case protoreflect.EnumKind:
			return string(f.Enum().Name())
		default:
			return f.Kind().String()
		}
	}
	switch s := fmt.Sprintf("%d ", f.Number()); {
	case f.IsMap():
		return s + "map<" + typ(f.MapKey()) + "," + typ(f.MapValue()) + ">"
	case f.IsList():
		return s + typ(f) + "[]"
	case f.HasOptionalKeyword():
		return s + typ(f) + "?"
	case f.ContainingOneof() != nil:
		return s + typ(f) + " oneof " + string(f.ContainingOneof().Name())
	default:
		return s + typ(f)
	}
}
