package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand"
	"net/http"
	"time"
)

var errGone = errors.New("the lease is over")

// A mistake of the worker: to repeat the call changes nothing.
type refused struct{ error }

func init() { rand.Seed(time.Now().UnixNano()) }

type calls struct{ url, key string }

// call sends one call. An error that is neither errGone nor refused may be repeated.
func (c calls) call(ctx context.Context, deadline time.Duration, method, path string, body, answer any) error {
	ctx, done := context.WithTimeout(ctx, deadline)
	defer done()
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return refused{err}
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+"/v1/workers/"+path, sent)
	if err != nil {
		return refused{err}
	}
	request.Header.Set("authorization", "Bearer "+c.key)
	if body != nil {
		request.Header.Set("content-type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	status := response.StatusCode
	switch {
	case err != nil:
		return err
	case status == 410:
		return errGone
	case status >= 500 || status == 429 || status == 408:
		return fmt.Errorf("the server answered %d", status)
	case status >= 400:
		return refused{fmt.Errorf("the server answered %d: %s", status, text)}
	case answer == nil:
		return nil
	}
	return json.Unmarshal(text, answer)
}

// backOff waits a random time, which grows with the number of failures.
func backOff(ctx context.Context, failures int, err error) int {
	log.Printf("failed, trying again: %v", err)
	longest := 200 * time.Millisecond << failures
	select {
	case <-ctx.Done():
	case <-time.After(longest/2 + time.Duration(rand.Int63n(int64(longest/2)))):
	}
	if failures < 5 {
		failures++
	}
	return failures
}
