import { once } from "node:events";
import { createServer, type ServerHttp2Stream } from "node:http2";

/** Answers the message of a call of one request and one response, both as bytes of protobuf. */
export type Answer = (message: Uint8Array) => Promise<Uint8Array>;

const head = { ":status": 200, "content-type": "application/grpc" };
const unimplemented = "12";

/** Serves gRPC without TLS on a port of this machine, by the path of each call, and resolves with the port. */
export async function serveGrpc(calls: ReadonlyMap<string, Answer>): Promise<number> {
  const server = createServer();
  server.on("stream", (stream, headers) => {
    stream.on("error", () => undefined);
    const call = calls.get(String(headers[":path"]));
    if (call === undefined) stream.respond({ ...head, "grpc-status": unimplemented }, { endStream: true });
    else void answered(stream, call);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}

/** A message follows a byte that says that it is not compressed, and its length in four bytes. */
async function answered(stream: ServerHttp2Stream, call: Answer): Promise<void> {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(stream, "end");
  const message = await call(Buffer.concat(chunks).subarray(5));
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  stream.respond(head, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(Buffer.concat([prefix, message]));
}
