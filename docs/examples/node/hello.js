// Sends one message to an address and receives it: node hello.js orders
const fs = require("fs");
const rhea = require("rhea");

const address = process.argv[2];
const connection = rhea.connect({
  transport: "tls",
  host: process.env.WAYPOST_MESSAGING_HOST,
  servername: process.env.WAYPOST_MESSAGING_HOST,
  port: Number(process.env.WAYPOST_MESSAGING_PORT),
  ca: [fs.readFileSync(process.env.WAYPOST_MESSAGING_CA)],
  username: process.env.WAYPOST_MESSAGING_USER,
  password: process.env.WAYPOST_MESSAGING_PASSWORD,
  reconnect: false,
});

connection.open_receiver({ source: address, credit_window: 100 });
connection.once("receiver_open", () => connection.open_sender(address));
connection.once("sendable", (event) => event.sender.send({ body: "hello", durable: true }));
// A refusal arrives as an event: of the message, of the link, or of the connection.
for (const refused of ["rejected", "released", "modified"]) {
  connection.on(refused, () => fail(`the message was ${refused}`));
}
connection.on("sender_error", (event) => fail(event.sender.error));
connection.on("receiver_error", (event) => fail(event.receiver.error));
connection.on("connection_error", (event) => fail(event.connection.error));
connection.on("disconnected", (event) => fail(event.error || "the connection ended"));
connection.on("message", (event) => {
  console.log("received:", event.message.body);
  connection.removeAllListeners("disconnected");
  connection.close(); // rhea has accepted the message
});

function fail(reason) {
  console.error(String(reason));
  process.exit(1);
}
