// Sends one message to an address and receives it: go run . orders
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/Azure/go-amqp"
)

func main() {
	if err := hello(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func hello(address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()

	connection, err := connect(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	session, err := connection.NewSession(ctx, nil)
	if err != nil {
		return err
	}
	receiver, err := session.NewReceiver(ctx, address, &amqp.ReceiverOptions{Credit: 100})
	if err != nil {
		return err
	}
	sender, err := session.NewSender(ctx, address, nil)
	if err != nil {
		return err
	}

	// Send returns once the message is accepted, or with an error if it is refused.
	message := amqp.NewMessage(nil)
	message.Value = "hello"
	message.Data = nil
	message.Header = &amqp.MessageHeader{Durable: true}
	if err := sender.Send(ctx, message, nil); err != nil {
		return err
	}
	received, err := receiver.Receive(ctx, nil)
	if err != nil {
		return err
	}
	fmt.Println("received:", received.Value)
	return receiver.AcceptMessage(ctx, received)
}

func connect(ctx context.Context) (*amqp.Conn, error) {
	authority, err := os.ReadFile(os.Getenv("WAYPOST_MESSAGING_CA"))
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("no certificate in the file that WAYPOST_MESSAGING_CA names")
	}
	host := os.Getenv("WAYPOST_MESSAGING_HOST")
	url := fmt.Sprintf("amqps://%s:%s", host, os.Getenv("WAYPOST_MESSAGING_PORT"))
	return amqp.Dial(ctx, url, &amqp.ConnOptions{
		SASLType: amqp.SASLTypePlain(
			os.Getenv("WAYPOST_MESSAGING_USER"), os.Getenv("WAYPOST_MESSAGING_PASSWORD")),
		TLSConfig: &tls.Config{RootCAs: trusted, ServerName: host},
	})
}
