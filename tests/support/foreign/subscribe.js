// A client of rhea with a durable subscription that is away while messages come.
//
// Called by tests/support/foreign/node.py with one argument, a job as JSON: {..., address, messages}
// Prints one line of JSON: {accepted, received: [bodies], refused: the error's name or ""}.
"use strict";

const rhea = require("rhea");
const { connectTo } = require("./jobs.js");

const job = JSON.parse(process.argv[2]);
const told = { accepted: 0, received: [], refused: "" };
const subscriber = rhea.create_container({ id: "rhea-ledger" });
const publisher = rhea.create_container();
let isFinished = false;
let times = 0;
let sent = 0;

function finish(error) {
  if (isFinished) return;
  isFinished = true;
  if (error) told.refused = error.condition || String(error);
  process.stdout.write(JSON.stringify(told) + "\n", () => process.exit(0));
}

function subscribe() {
  const connection = connectTo(subscriber, job);
  connection.open_receiver({
    name: "kept",
    source: { address: job.address, durable: 2, expiry_policy: "never" },
  });
}

for (const container of [subscriber, publisher]) {
  container.on("receiver_error", (context) => finish(context.receiver.error));
  container.on("sender_error", (context) => finish(context.sender.error));
  container.on("connection_error", (context) => finish(context.connection.error));
}
subscriber.on("receiver_open", (context) => {
  times += 1;
  if (times === 1) context.receiver.detach(); // the subscription stays
});
subscriber.on("receiver_detached", (context) => context.connection.close());
subscriber.on("connection_close", () => {
  if (times === 1) connectTo(publisher, job).open_sender(job.address);
  else finish(null);
});
publisher.on("sendable", (context) => {
  while (sent < job.messages && context.sender.sendable()) {
    context.sender.send({ durable: true, body: `message ${sent}` });
    sent += 1;
  }
});
publisher.on("accepted", (context) => {
  told.accepted += 1;
  if (told.accepted === job.messages) {
    context.connection.close();
    subscribe();
  }
});
subscriber.on("message", (context) => {
  told.received.push(context.message.body);
  if (told.received.length === job.messages) context.receiver.close(); // the subscription ends
});
subscriber.on("receiver_close", (context) => context.connection.close());

setTimeout(() => finish("no answer"), 30000).unref();
subscribe();
