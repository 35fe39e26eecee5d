// What the programs of rhea share: how they connect, and what a message says. See Job in __init__.py.
"use strict";

const crypto = require("crypto");
const fs = require("fs");

function connectTo(container, job, options) {
  return container.connect({
    transport: "tls",
    host: job.host,
    port: job.port,
    ca: [fs.readFileSync(job.ca)],
    username: job.user,
    password: job.password,
    reconnect: false,
    ...options,
  });
}

function body(job, number) {
  if (!job.size) return `message ${number}`;
  const bytes = Buffer.alloc(job.size);
  for (let at = 0; at < job.size; at += 1) bytes[at] = (number + at) % 256;
  return bytes;
}

function said(received) {
  const bytes = received && received.typecode ? received.content : received; // a data section
  return Buffer.isBuffer(bytes) ? crypto.createHash("sha256").update(bytes).digest("hex") : bytes;
}

module.exports = { body, connectTo, said };
