/** @module Claims free ports of the loopback address. */
import { createServer } from "node:net";

/** A port that this process gives to no other caller until `release`. */
export interface PortClaim {
  readonly port: number;
  release(): void;
}

const claimed = new Set<number>();

/** Claims the wanted port where it is free, otherwise a port chosen by the system. Rejects where none is free. */
export async function claimPort(wanted?: number): Promise<PortClaim> {
  if (wanted !== undefined && !claimed.has(wanted)) {
    claimed.add(wanted);
    if ((await freePort(wanted)) !== undefined) return claim(wanted);
    claimed.delete(wanted);
  }
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = await freePort(0);
    if (port === undefined || claimed.has(port)) continue;
    claimed.add(port);
    return claim(port);
  }
  throw new Error("no port is free on 127.0.0.1");
}

function claim(port: number): PortClaim {
  return { port, release: () => void claimed.delete(port) };
}

/** Listens briefly to test a port (0: any); undefined where it is taken. */
function freePort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : undefined));
    });
  });
}
