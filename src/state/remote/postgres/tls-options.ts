/** @module Turns the modes that libpq has for TLS into options of Node. */
import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "node:tls";
import { fileTrouble } from "../../../files/file-trouble.ts";
import { GraphformError } from "../../../model/errors.ts";
import type { ConnectionSettings } from "./connection-settings.ts";

/**
 * Options of TLS; false for none. As with libpq, `require` checks nothing unless an authority is named, `verify-ca` checks the
 * chain, and `verify-full` the name too. Rejects with `state-unsuitable` where a file cannot be read.
 */
export async function tlsOptions(settings: ConnectionSettings): Promise<ConnectionOptions | false> {
  const { sslmode, sslrootcert, sslcert, sslkey, host } = settings;
  // A socket is a file of this machine; libpq does not encrypt it either.
  if (sslmode === "disable" || host.startsWith("/")) return false;
  const ca = sslrootcert === undefined || sslrootcert === "system" ? undefined : await pem(sslrootcert);
  const cert = sslcert === undefined ? undefined : await pem(sslcert);
  const key = sslkey === undefined ? undefined : await pem(sslkey);
  return {
    rejectUnauthorized: sslmode !== "require" || ca !== undefined,
    ...(sslmode === "verify-full" ? {} : { checkServerIdentity: () => undefined }),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

async function pem(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new GraphformError("state-unsuitable", `cannot read ${file}: ${fileTrouble(error)}`, {
      hint: "it is named as the authority, certificate or key of the state's connection to PostgreSQL",
    });
  }
}
