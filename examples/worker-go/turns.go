package main

import (
	"context"
	"log"
	"time"
)

type turnAnswer struct {
	Settled []claim
	Jobs    []delivered
	Beat    bool
}

// serve takes jobs until the session ends or the worker stops. Then it finishes what runs, and leaves.
func (s *session) serve(stopping context.Context) {
	failures, lost := 0, false // lost: a turn had no answer, but it may have taken jobs
	for s.ctx.Err() == nil && (stopping.Err() == nil || lost) {
		err := s.turn(stopping, lost)
		lost = err != nil
		if _, mistake := err.(refused); mistake {
			log.Fatal(err)
		} else if err == errGone {
			s.lose()
		} else if err != nil {
			failures = backOff(stopping, failures, err)
		} else {
			failures = 0
		}
	}
	deadline := time.After(30 * time.Second)
	for len(s.holding()) > 0 {
		select {
		case <-s.settled:
		case <-deadline:
			s.interrupt()
		}
	}
	if s.ctx.Err() == nil {
		s.call(s.ctx, 10*time.Second, "DELETE", s.id, nil, nil)
		s.timer.Stop()
		s.end()
	}
}

func (s *session) turn(stopping context.Context, lost bool) error {
	for len(s.holding()) >= s.slots {
		<-s.settled
	}
	if stopping.Err() != nil && !lost {
		return nil
	}
	holding := s.holding()
	body, ctx, wait := object{"room": s.slots - len(holding)}, s.ctx, s.wait
	if lost {
		body["holding"], wait = holding, 0
	} else {
		open, end := context.WithCancel(s.ctx)
		defer end()
		go func() {
			select {
			case <-stopping.Done():
				end()
			case <-open.Done():
			}
		}()
		ctx = open
	}
	body["waitMs"] = wait.Milliseconds()
	var answer turnAnswer
	if err := s.call(ctx, wait+10*time.Second, "POST", s.id+"/turn", body, &answer); err != nil {
		return err
	}
	if answer.Beat {
		signalTo(s.beatNow)
	}
	for _, sent := range answer.Jobs {
		s.start(sent, stopping.Err() == nil)
	}
	return nil
}

// start runs a job, or gives it back.
func (s *session) start(sent delivered, runs bool) {
	run := &Run{Attempt: sent.Attempt, ended: make(chan struct{})}
	run.Context, run.stop = context.WithTimeout(s.ctx, ms(int(sent.TimeoutMs)))
	run.say = func(kind string, said object) {
		said["id"], said["claim"] = sent.ID, sent.Claim
		s.call(s.ctx, 10*time.Second, "POST", s.id+"/say", object{kind: []object{said}}, nil)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.held[sent.claim] != nil {
		return
	}
	s.held[sent.claim] = run
	go func() {
		outcome := object{"kind": "unstarted"}
		if runs {
			outcome = run.outcome(s.jobs[sent.Key], sent)
		} else {
			close(run.ended)
		}
		s.settle(run, object{"id": sent.ID, "claim": sent.Claim, "outcome": outcome})
		run.stop()
		s.mutex.Lock()
		delete(s.held, sent.claim)
		s.mutex.Unlock()
		signalTo(s.settled)
	}()
}
