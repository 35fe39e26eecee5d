// Two clients of rhea: one asks over a temporary address, the other answers to where it says.
//
// Called by tests/support/foreign/node.py with one argument, a job as JSON: {..., address, messages}
// Prints one line of JSON: {accepted, received: [answers], refused: the error's name or ""}.
"use strict";

const rhea = require("rhea");
const { connectTo } = require("./jobs.js");

const job = JSON.parse(process.argv[2]);
const told = { accepted: 0, received: [], refused: "" };
const asking = rhea.create_container();
const serving = rhea.create_container();
const connections = [];
let isFinished = false;
let sent = 0;
let replyTo = null;
let anonymous = null;

function finish(error) {
  if (isFinished) return;
  isFinished = true;
  if (error) told.refused = error.condition || String(error);
  setImmediate(() => connections.forEach((connection) => connection.close()));
  process.stdout.write(JSON.stringify(told) + "\n");
}

function finishWhenComplete() {
  if (told.accepted === job.messages && told.received.length === job.messages) finish(null);
}

for (const container of [asking, serving]) {
  container.on("receiver_error", (context) => finish(context.receiver.error));
  container.on("sender_error", (context) => finish(context.sender.error));
  container.on("connection_error", (context) => finish(context.connection.error));
  container.on("disconnected", (context) => finish(context.error || "disconnected"));
}
serving.on("receiver_open", () => {
  const connection = connectTo(asking, job);
  connections.push(connection);
  connection.open_receiver({ source: { dynamic: true } });
});
serving.on("message", (context) => {
  anonymous.send({ to: context.message.reply_to, body: `answer to ${context.message.body}` });
});
asking.on("receiver_open", (context) => {
  replyTo = context.receiver.source.address;
  context.connection.open_sender(job.address);
});
asking.on("sendable", (context) => {
  while (sent < job.messages && context.sender.sendable()) {
    context.sender.send({ reply_to: replyTo, body: `message ${sent}` });
    sent += 1;
  }
});
asking.on("accepted", () => {
  told.accepted += 1;
  finishWhenComplete();
});
asking.on("message", (context) => {
  told.received.push(context.message.body);
  finishWhenComplete();
});

setTimeout(() => finish("no answer"), 30000).unref();
const service = connectTo(serving, job);
connections.push(service);
anonymous = service.open_sender({ target: {} });
service.open_receiver(job.address);
