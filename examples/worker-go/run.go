package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Job is the code of a job. It stops when the context of the run ends.
type Job func(params json.RawMessage, run *Run) (any, error)

type object = map[string]any

type claim struct {
	ID    string `json:"id"`
	Claim int    `json:"claim"`
}

type delivered struct {
	claim
	Attempt    int
	Key        string
	ParamsJson string
	TimeoutMs  float64
}

// Run is one attempt of a job.
type Run struct {
	Context context.Context
	Attempt int
	stop    context.CancelFunc
	say     func(kind string, said object)
	count   int
	ended   chan struct{}
	// The worker does not own it any more, or stops.
	lost, interrupted atomic.Bool
}

func (r *Run) Log(level, message string) {
	lines := []object{{"level": level, "message": message, "ageMs": 0}}
	r.say("logs", object{"n": r.count, "lines": lines})
	r.count++
}

func (r *Run) Progress(fraction float64, message string) {
	r.say("progress", object{"fraction": fraction, "message": message})
}

// abandon stops a job that belongs to another worker. A goroutine cannot be killed: if it goes on,
// the whole process ends, before the lease does.
func (r *Run) abandon(grace time.Duration) {
	r.lost.Store(true)
	r.stop()
	time.AfterFunc(grace, func() {
		select {
		case <-r.ended:
		default:
			log.Fatal("a job that was lost does not stop, so this process ends")
		}
	})
}

// outcome runs the job to its end.
func (r *Run) outcome(job Job, sent delivered) (outcome object) {
	defer close(r.ended)
	defer func() {
		if cause := recover(); cause != nil {
			outcome = failure("CRASHED", fmt.Sprint(cause), string(debug.Stack()))
		}
	}()
	result, err := job(json.RawMessage(sent.ParamsJson), r)
	if err == nil {
		var text []byte
		if text, err = json.Marshal(result); err == nil {
			return object{"kind": "success", "resultJson": string(text)}
		}
	}
	if r.interrupted.Load() {
		return object{"kind": "interrupted", "message": "the worker stops"}
	}
	if errors.Is(r.Context.Err(), context.DeadlineExceeded) {
		return failure("TIMEOUT", err.Error(), "")
	}
	return failure("HANDLER_ERROR", err.Error(), "")
}

func failure(code, message, stack string) object {
	return object{"kind": "failure", "error": object{"code": code, "message": message, "stack": stack}}
}
