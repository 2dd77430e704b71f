/** @module Makes the certificate authority of a data folder and a certificate for its databases. */
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inTurn } from "../in-turn.ts";
import { certificatePem } from "./certificate.ts";
import type { TlsFiles } from "./database.ts";

/** Valid at any setting of the clock: it is trusted for databases on this machine only, and a wrong clock must not end it. */
const validity = { notBefore: new Date("2000-01-01T00:00:00Z"), notAfter: new Date("2099-12-31T23:59:59Z") };

/**
 * Files of the authority and of a certificate for localhost, 127.0.0.1 and ::1. Made once in `<dir>/tls`, and again where they are
 * damaged or not valid now. The authority's private key is not stored.
 */
export function ensureAuthority(dir: string, now: number = Date.now()): Promise<TlsFiles> {
  const folder = join(dir, "tls");
  const files = {
    caFile: join(folder, "ca.pem"),
    certFile: join(folder, "server.pem"),
    keyFile: join(folder, "server.key"),
  };
  return inTurn(folder, async () => {
    if (!(await isGood(files, now))) await makeAuthority(dir, folder);
    return files;
  });
}

async function isGood({ caFile, certFile, keyFile }: TlsFiles, now: number): Promise<boolean> {
  try {
    const [authority, server] = await Promise.all(
      [caFile, certFile].map(async (file) => new X509Certificate(await readFile(file))),
    );
    await readFile(keyFile);
    if (authority === undefined || server === undefined) return false;
    const [from, to] = [Date.parse(server.validFrom), Date.parse(server.validTo)];
    return server.verify(authority.publicKey) && from < now && now < to;
  } catch {
    return false;
  }
}

async function makeAuthority(dir: string, folder: string): Promise<void> {
  const authority = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const server = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const common = {
    issuer: "graphform local platform",
    ...validity,
    issuerPublicKey: authority.publicKey,
    issuerPrivateKey: authority.privateKey,
  };
  const ca = certificatePem({
    ...common,
    subject: common.issuer,
    publicKey: authority.publicKey,
    isAuthority: true,
  });
  const own = certificatePem({
    ...common,
    subject: "localhost",
    publicKey: server.publicKey,
    isAuthority: false,
  });
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const temporary = await mkdtemp(join(dir, "tls-"));
  await writeFile(join(temporary, "ca.pem"), ca);
  await writeFile(join(temporary, "server.pem"), own);
  await writeFile(join(temporary, "server.key"), server.privateKey.export({ type: "pkcs8", format: "pem" }), {
    mode: 0o600,
  });
  await rm(folder, { recursive: true, force: true });
  await rename(temporary, folder);
}
