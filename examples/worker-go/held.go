package main

import "time"

// holding lists the claims that are not settled.
func (s *session) holding() []claim {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	claims := []claim{}
	for one := range s.held {
		claims = append(claims, one)
	}
	return claims
}

// each does something with the runs of these claims whose id is listed.
func (s *session) each(ids []string, claims []claim, do func(*Run)) {
	listed := map[string]bool{}
	for _, id := range ids {
		listed[id] = true
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, one := range claims {
		if run := s.held[one]; run != nil && listed[one.ID] {
			do(run)
		}
	}
}

// interrupt stops all runs, because the worker stops.
func (s *session) interrupt() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, run := range s.held {
		run.interrupted.Store(true)
		run.stop()
	}
}

func signalTo(channel chan struct{}) {
	select {
	case channel <- struct{}{}:
	default:
	}
}

// settle repeats the outcome until the server has answered for it.
func (s *session) settle(run *Run, reported object) {
	for failures := 0; s.ctx.Err() == nil && !run.lost.Load(); {
		var answer turnAnswer
		body := object{"outcomes": []object{reported}}
		err := s.call(s.ctx, 10*time.Second, "POST", s.id+"/turn", body, &answer)
		if err == nil && len(answer.Settled) > 0 {
			return
		} else if err == errGone {
			s.lose()
		} else if _, mistake := err.(refused); mistake {
			reported["outcome"] = failure("HANDLER_ERROR", err.Error(), "")
		}
		failures = backOff(s.ctx, failures, err)
	}
}
