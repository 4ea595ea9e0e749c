package process

import (
	"os"
	"testing"
	"time"
)

func TestUsageOfThisProcess(t *testing.T) {
	before, err := Of(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if before.Mapped < 1<<20 {
		t.Errorf("%d bytes of files are mapped, less than a test binary has", before.Mapped)
	}
	const size = 64 << 20
	memory := make([]byte, size)
	for sum := byte(0); ; { // until that has cost processor time that can be seen
		for i := 0; i < size; i += 512 {
			memory[i] += sum + 1
			sum += memory[i]
		}
		after, err := Of(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if after.CPU < before.CPU+5*tick {
			continue
		}
		if after.Anonymous < before.Anonymous+size/2 || after.Peak < after.Anonymous {
			t.Errorf("before %+v, with %d bytes more %+v", before, size, after)
		}
		if after.CPU > time.Hour {
			t.Errorf("%s of processor time", after.CPU)
		}
		return
	}
}
