// A worker for Longshore, with the standard library only: the rules of docs/operate/remote-workers.md.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

type Worker struct {
	calls
	slots int
	jobs  map[string]Job
}

// session is the time from a registration to the end of its lease. All its calls and jobs end with ctx.
type session struct {
	*Worker
	id                string
	ctx               context.Context
	end, drain        context.CancelFunc
	lease, beat, wait time.Duration
	timer             *time.Timer // fires when the lease is nearly over
	mutex             sync.Mutex
	held              map[claim]*Run // until its outcome is settled
	settled, beatNow  chan struct{}
}

// Run works until SIGTERM or SIGINT.
func (w *Worker) Run() {
	stopping, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	for failures := 0; stopping.Err() == nil; {
		if s, err := w.register(stop); err == nil {
			go s.beats()
			s.serve(stopping)
			failures = 0
		} else if _, mistake := err.(refused); mistake {
			log.Fatal(err)
		} else {
			failures = backOff(stopping, failures, err)
		}
	}
}

func (w *Worker) register(drain context.CancelFunc) (*session, error) {
	host, _ := os.Hostname()
	definitions := []object{}
	for key := range w.jobs {
		definitions = append(definitions, object{"key": key})
	}
	random := make([]byte, 16)
	rand.Read(random)
	random[6], random[8] = random[6]&0x0f|0x40, random[8]&0x3f|0x80
	id := fmt.Sprintf("%x-%x-%x-%x-%x", random[:4], random[4:6], random[6:8], random[8:10], random[10:])
	body := object{"host": host, "pid": os.Getpid(), "slots": w.slots, "definitions": definitions}
	var answer struct{ LeaseMs, BeatMs, WaitMs int }
	sentAt := time.Now()
	if err := w.call(context.Background(), 10*time.Second, "PUT", id, body, &answer); err != nil {
		return nil, err
	}
	s := &session{Worker: w, id: id, drain: drain, held: map[claim]*Run{}}
	s.lease, s.beat, s.wait = ms(answer.LeaseMs), ms(answer.BeatMs), ms(answer.WaitMs)
	s.settled, s.beatNow = make(chan struct{}, 1), make(chan struct{}, 1)
	s.ctx, s.end = context.WithCancel(context.Background())
	s.timer = time.AfterFunc(time.Until(sentAt.Add(s.lease*5/6)), s.lose)
	return s, nil
}

// beats renews the lease, which counts from the moment a heartbeat was sent.
func (s *session) beats() {
	for s.ctx.Err() == nil {
		select {
		case <-s.ctx.Done():
		case <-s.beatNow:
		case <-time.After(s.beat):
		}
		var answer struct {
			Cancel, Gone []string
			Drain        bool
		}
		sentAt, holding := time.Now(), s.holding()
		err := s.call(s.ctx, s.lease/4, "POST", s.id+"/beat", object{"holding": holding}, &answer)
		if err == errGone {
			s.lose()
		}
		if err != nil {
			continue
		}
		s.timer.Reset(time.Until(sentAt.Add(s.lease * 5 / 6)))
		s.each(answer.Gone, holding, func(run *Run) { run.abandon(s.lease / 12) })
		s.each(answer.Cancel, holding, func(run *Run) { run.stop() })
		if answer.Drain {
			s.drain()
		}
	}
}

// lose ends the session: all its jobs stop.
func (s *session) lose() {
	s.end()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, run := range s.held {
		run.abandon(s.lease / 12)
	}
}

func ms(count int) time.Duration { return time.Duration(count) * time.Millisecond }
