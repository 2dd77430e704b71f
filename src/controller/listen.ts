/** @module Opens a server of HTTP, with TLS if the configuration names a certificate. */
import { readFile } from "node:fs/promises";
import { createServer as createPlainServer } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { GraphformError } from "../index.ts";
import type { LiveConfig } from "./config/config.ts";

export interface Listening {
  readonly url: string;
  /** Reads the certificate again. */
  renew(): Promise<void>;
  /** Takes no more requests; streams that are open get 2 s. */
  close(): Promise<void>;
}

/** Listens. Throws `listen-*`: other machines are served by TLS, or through a proxy that the configuration trusts. */
export async function listen(
  fetch: Parameters<typeof getRequestListener>[0],
  { host, port }: { readonly host: string; readonly port: number },
  config: LiveConfig,
): Promise<Listening> {
  const { tls, trustProxy } = config.current().http;
  if (tls === undefined && trustProxy.length === 0 && !/^(localhost|::1|127(\.\d+){3})$/.test(host))
    throw new GraphformError("listen-plain", `the API would listen on ${host} without TLS`, {
      hint: "name a certificate as http.tls, or the proxy as http.trustProxy, in the configuration; or listen on 127.0.0.1",
    });
  const handle = getRequestListener(fetch);
  const secure = tls === undefined ? undefined : createServer(await certificateOf(config), handle);
  const server = secure ?? createPlainServer(handle);
  await new Promise<void>((done, fail) => server.once("error", fail).listen(port, host, done)).catch(
    (cause: unknown) => {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new GraphformError("listen-failed", `cannot listen: ${why}`, { hint: "name another --listen" });
    },
  );
  const { address, family, port: chosen } = server.address() as AddressInfo;
  return {
    url: `${secure === undefined ? "http" : "https"}://${family === "IPv6" ? `[${address}]` : address}:${chosen}`,
    renew: async () => secure?.setSecureContext(await certificateOf(config)),
    async close() {
      const closed = new Promise((done) => server.close(done));
      const timer = setTimeout(() => server.closeAllConnections(), 2_000);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function certificateOf(config: LiveConfig): Promise<{ readonly cert: string; readonly key: string }> {
  const { certificate = "", key = "" } = config.current().http.tls ?? {};
  try {
    return { cert: await readFile(certificate, "utf8"), key: await readFile(key, "utf8") };
  } catch (cause) {
    const message = "the certificate or the key of http.tls cannot be read";
    throw new GraphformError("listen-certificate", message, { cause });
  }
}
