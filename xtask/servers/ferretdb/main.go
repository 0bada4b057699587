// A server that speaks MongoDB's protocol and keeps everything in SQLite: FerretDB, embedded. It is not mongod.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

// Usage: iolag-ferretdb HOST:PORT DIRECTORY
func main() {
	if len(os.Args) != 3 {
		log.Fatal("expected HOST:PORT DIRECTORY")
	}
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: os.Args[1]},
		Handler:   "sqlite",
		SQLiteURL: "file:" + os.Args[2] + "/",
	})
	if err != nil {
		log.Fatal(err)
	}
	running, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	fmt.Println(server.MongoDBURI())
	if err := server.Run(running); err != nil {
		log.Fatal(err)
	}
}
