// A client of rhea that exchanges messages on one address, or tells how it was refused.
//
// Called by tests/support/foreign/node.py with one argument, a job as JSON:
//   {host, port, ca, user, password, address, source, messages, receivers, copies, size}
// Prints one line of JSON: {accepted, received: [said bodies], refused: the error's name or ""}.
"use strict";

const rhea = require("rhea");
const { body, connectTo, said } = require("./jobs.js");

const job = JSON.parse(process.argv[2]);
const container = rhea.create_container();
const told = { accepted: 0, received: [], refused: "" };
const expected = job.messages * (job.copies ? job.receivers : 1);
const connections = [];
let attached = 0;
let sent = 0;
let isFinished = false;

function connect() {
  const connection = connectTo(container, job);
  connections.push(connection);
  return connection;
}

function refuse(error) {
  if (isFinished) return;
  told.refused = (error && error.condition) || String(error);
  finish();
}

function finish() {
  if (isFinished) return;
  isFinished = true;
  // Later, so that what is settled in this turn is told before; the process ends with its sockets.
  setImmediate(() => connections.forEach((connection) => connection.close()));
  process.stdout.write(JSON.stringify(told) + "\n");
}

function finishWhenComplete() {
  if (told.accepted === job.messages && told.received.length === expected) finish();
}

function openSender() {
  connect().open_sender({ target: job.address });
}

container.on("receiver_open", (context) => {
  if (!context.receiver.source.address) return; // refused: its error follows
  context.receiver.add_credit(expected);
  attached += 1;
  if (attached === job.receivers) openSender();
});
container.on("sendable", (context) => {
  while (sent < job.messages && context.sender.sendable()) {
    context.sender.send({ durable: true, body: body(job, sent) });
    sent += 1;
  }
});
container.on("accepted", () => {
  told.accepted += 1;
  finishWhenComplete();
});
container.on("message", (context) => {
  told.received.push(said(context.message.body));
  finishWhenComplete();
});
container.on("rejected", (context) => refuse(context.delivery.remote_state.error));
container.on("sender_error", (context) => refuse(context.sender.error));
container.on("receiver_error", (context) => refuse(context.receiver.error));
container.on("connection_error", (context) => refuse(context.connection.error || context.error));
container.on("disconnected", (context) => refuse(context.error || "disconnected"));
container.on("error", refuse);

setTimeout(() => refuse("no answer"), 30000).unref();
if (job.receivers === 0) openSender();
for (let number = 0; number < job.receivers; number += 1) {
  connect().open_receiver({ source: job.source || job.address, credit_window: 0, autoaccept: true });
}
