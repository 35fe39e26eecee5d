// Sends one message to an address and receives it: dotnet run -- orders
using System.Security.Cryptography.X509Certificates;
using Amqp;
using Amqp.Framing;

string Env(string name) => Environment.GetEnvironmentVariable("WAYPOST_MESSAGING_" + name)!;

var authority = X509Certificate2.CreateFromPem(File.ReadAllText(Env("CA")));
var factory = new ConnectionFactory();
factory.SSL.RemoteCertificateValidationCallback = (_, certificate, chain, errors) =>
{
    // The host name must match; only the authority is not one of the system's.
    if (errors.HasFlag(System.Net.Security.SslPolicyErrors.RemoteCertificateNameMismatch))
        return false;
    chain!.ChainPolicy.TrustMode = X509ChainTrustMode.CustomRootTrust;
    chain.ChainPolicy.CustomTrustStore.Add(authority);
    chain.ChainPolicy.RevocationMode = X509RevocationMode.NoCheck;
    return chain.Build(new X509Certificate2(certificate!));
};

var address = new Address(Env("HOST"), int.Parse(Env("PORT")), Env("USER"), Env("PASSWORD"));
var connection = await factory.CreateAsync(address);
var session = new Session(connection);
var receiver = new ReceiverLink(session, "receiver", args[0]);
var sender = new SenderLink(session, "sender", args[0]);
await sender.SendAsync(new Message("hello") { Header = new Header { Durable = true } });
var message = await receiver.ReceiveAsync(TimeSpan.FromSeconds(30));
Console.WriteLine("received: " + message.Body);
receiver.Accept(message);
await connection.CloseAsync();
