package waypost.broker;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.timeout.ReadTimeoutHandler;
import io.netty.util.concurrent.DefaultThreadFactory;

import org.apache.activemq.artemis.core.server.ActiveMQServer;
import org.apache.activemq.artemis.spi.core.remoting.Acceptor;

/**
 * Answers the probes of a cluster over HTTP (docs/adr/0021).
 *
 * {@code /ready} answers 200 while the broker is active and all its listeners are open, else 503.
 * {@code /alive} answers 200 as long as this thread runs. It does nothing else, so that a busy
 * broker answers and one whose process hangs does not.
 */
final class Health {

   private static final String PROPERTY = "waypost.health";
   private static final int SECONDS_TO_ASK = 5;

   private final ActiveMQServer server;
   private final EventLoopGroup thread =
      new NioEventLoopGroup(1, new DefaultThreadFactory("waypost-health", true));

   private Health(ActiveMQServer server) {
      this.server = server;
   }

   /** Opens the listener at the property's {@code host:port}; returns null without the property. */
   static Health open(ActiveMQServer server) {
      String place = System.getProperty(PROPERTY);
      if (place == null) {
         return null;
      }
      int colon = place.lastIndexOf(':');
      Health health = new Health(server);
      new ServerBootstrap()
         .group(health.thread)
         .channel(NioServerSocketChannel.class)
         .childHandler(health.new Pipeline())
         .bind(place.substring(0, colon), Integer.parseInt(place.substring(colon + 1)))
         .syncUninterruptibly();
      return health;
   }

   void close() {
      thread.shutdownGracefully(0, 1, TimeUnit.SECONDS);
   }

   private boolean isReady() {
      return server.isActive()
         && server.getRemotingService().getAcceptors().values().stream()
            .allMatch(Acceptor::isStarted);
   }

   private HttpResponseStatus statusOf(String path) {
      return switch (path) {
         case "/alive" -> HttpResponseStatus.OK;
         case "/ready" -> isReady() ? HttpResponseStatus.OK : HttpResponseStatus.SERVICE_UNAVAILABLE;
         default -> HttpResponseStatus.NOT_FOUND;
      };
   }

   private final class Pipeline extends ChannelInitializer<SocketChannel> {

      @Override
      protected void initChannel(SocketChannel channel) {
         channel.pipeline().addLast(
            new ReadTimeoutHandler(SECONDS_TO_ASK), new HttpServerCodec(), new Answers());
      }
   }

   private final class Answers extends SimpleChannelInboundHandler<HttpRequest> {

      @Override
      protected void channelRead0(ChannelHandlerContext context, HttpRequest request) {
         HttpResponseStatus status =
            request.decoderResult().isSuccess() ? statusOf(request.uri()) : HttpResponseStatus.BAD_REQUEST;
         byte[] text = (status.reasonPhrase() + "\n").getBytes(StandardCharsets.US_ASCII);
         FullHttpResponse response = new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, status, Unpooled.wrappedBuffer(text));
         response.headers()
            .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.TEXT_PLAIN)
            .set(HttpHeaderNames.CONTENT_LENGTH, text.length)
            .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
         context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
      }

      /** Closes a connection that asked too slowly or broke off; neither is worth a line of log. */
      @Override
      public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
         context.close();
      }
   }
}
