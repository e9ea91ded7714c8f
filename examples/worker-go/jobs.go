// The jobs of this example, and the program that runs them.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"
)

var jobs = map[string]Job{
	"go.sum": func(params json.RawMessage, run *Run) (any, error) {
		var given struct{ Numbers []float64 }
		if err := json.Unmarshal(params, &given); err != nil {
			return nil, err
		}
		sum := 0.0
		for _, number := range given.Numbers {
			sum += number
		}
		run.Log("info", fmt.Sprintf("added %d numbers", len(given.Numbers)))
		run.Progress(1, "done")
		return map[string]float64{"sum": sum}, nil
	},
	"go.fail": func(_ json.RawMessage, run *Run) (any, error) {
		return nil, fmt.Errorf("attempt %d fails", run.Attempt)
	},
	"go.wait": func(params json.RawMessage, run *Run) (any, error) {
		var given struct{ Seconds float64 }
		if err := json.Unmarshal(params, &given); err != nil {
			return nil, err
		}
		run.Log("info", "waiting")
		select {
		case <-run.Context.Done():
			return nil, errors.New("stopped by a cancel")
		case <-time.After(time.Duration(given.Seconds * float64(time.Second))):
			return "waited", nil
		}
	},
}

func main() {
	worker := Worker{calls{os.Getenv("LONGSHORE_URL"), os.Getenv("LONGSHORE_API_KEY")}, 2, jobs}
	worker.Run()
}
