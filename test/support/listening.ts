import type { Server as HttpServer } from "node:http";
import type { AddressInfo, Server } from "node:net";

/** Stops every server that it was made for. */
export type Stop = () => Promise<void>;

/** Lets these servers listen on loopback, each on a port of its own. */
export async function stopper(http: HttpServer, ...others: readonly Server[]): Promise<Stop> {
  const all = [http, ...others];
  await Promise.all(
    all.map((server) => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
  );
  return async () => {
    http.closeAllConnections();
    for (const server of all) server.close();
  };
}

/** The port that a server listens on; 0 where it does not. */
export function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
