package assay.chat.peer;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.ChannelMatchers;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.LineBasedFrameDecoder;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What somebody would write with Netty for the same rooms: hello, join and say of the plain
 * protocol, a {@link ChannelGroup} for each room, flushes consolidated. It counts and checks
 * nothing, and bounds no queue: less work than the chat server has.
 */
public final class NettyRooms {
  private static final Map<String, ChannelGroup> ROOMS = new ConcurrentHashMap<>();

  private NettyRooms() {}

  /** Listens on any port of loopback, which it prints. */
  @SuppressWarnings("deprecation") // Of Netty 4.2; the way that all of 4 have.
  public static void main(String[] arguments) throws InterruptedException {
    EventLoopGroup acceptor = new NioEventLoopGroup(1);
    EventLoopGroup loops = new NioEventLoopGroup(Runtime.getRuntime().availableProcessors());
    Channel server =
        new ServerBootstrap()
            .group(acceptor, loops)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, 4_096)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    channel
                        .pipeline()
                        .addLast(
                            new FlushConsolidationHandler(
                                FlushConsolidationHandler.DEFAULT_EXPLICIT_FLUSH_AFTER_FLUSHES,
                                true))
                        .addLast(new LineBasedFrameDecoder(1_024))
                        .addLast(new User());
                  }
                })
            .bind(InetAddress.getLoopbackAddress(), 0)
            .sync()
            .channel();
    System.out.println(
        "ready on /127.0.0.1:" + ((InetSocketAddress) server.localAddress()).getPort());
    server.closeFuture().sync();
  }

  @SuppressWarnings("FutureReturnValueIgnored") // Who is gone gets nothing, and nobody asks.
  private static final class User extends SimpleChannelInboundHandler<ByteBuf> {
    private String name;
    private ChannelGroup room;
    private byte[] prefix;

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf line) {
      if (line.getByte(line.readerIndex()) == 's') {
        ByteBuf message = context.alloc().buffer(prefix.length + line.readableBytes());
        message.writeBytes(prefix).writeBytes(line.skipBytes("say ".length())).writeByte('\n');
        room.writeAndFlush(message, ChannelMatchers.isNot(context.channel()), true);
        return;
      }
      String[] words = line.toString(StandardCharsets.US_ASCII).split(" ", -1);
      if (words[0].equals("hello")) {
        name = words[2];
        answer(context, "welcome 1");
      } else {
        room =
            ROOMS.computeIfAbsent(
                words[1], key -> new DefaultChannelGroup(GlobalEventExecutor.INSTANCE));
        room.add(context.channel());
        prefix = ("from " + words[1] + " " + name + " ").getBytes(StandardCharsets.US_ASCII);
        answer(context, "joined " + words[1] + " " + room.size());
      }
    }

    private static void answer(ChannelHandlerContext context, String text) {
      context.writeAndFlush(Unpooled.copiedBuffer(text + "\n", StandardCharsets.US_ASCII));
    }
  }
}
