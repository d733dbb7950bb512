// SPDX-License-Identifier: Apache-2.0 OR MIT

// Fetches an address by HTTP/3 with quic-go, and prints what came as a line of JSON.
package main

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/quic-go/quic-go/http3"
)

func fetch(address string) (map[string]any, error) {
	transport := &http3.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.Close()
	client := &http.Client{Transport: transport, Timeout: 15 * time.Minute}
	began := time.Now()
	answer, err := client.Get(address)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s", answer.Status)
	}
	digest := sha256.New()
	size, err := io.Copy(digest, answer.Body)
	if err != nil {
		return nil, err
	}
	seconds := time.Since(began).Seconds()
	return map[string]any{"bytes": size, "sha256": fmt.Sprintf("%x", digest.Sum(nil)), "seconds": seconds}, nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "client ADDRESS")
		os.Exit(2)
	}
	got, err := fetch(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(got)
}
