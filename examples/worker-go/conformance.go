package main

import (
	"encoding/json"
	"errors"
	"os"
)

// The jobs that `longshore conformance worker` wants, in place of those of jobs.go.
func init() {
	if len(os.Args) < 2 || os.Args[1] != "conformance" {
		return
	}
	jobs = map[string]Job{
		"conformance.echo": func(params json.RawMessage, _ *Run) (any, error) {
			return params, nil
		},
		"conformance.fail": func(json.RawMessage, *Run) (any, error) {
			return nil, errors.New("it fails")
		},
		"conformance.wait": func(_ json.RawMessage, run *Run) (any, error) {
			<-run.Context.Done()
			return nil, errors.New("stopped by a cancel")
		},
	}
}
