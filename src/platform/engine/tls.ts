/** @module Makes the certificate authority of a data folder and a certificate for its databases. */
import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  type KeyPairKeyObjectResult,
  randomBytes,
  sign,
  X509Certificate,
} from "node:crypto";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inTurn } from "../in-turn.ts";
import type { TlsFiles } from "./spec.ts";

/** From 2000 to the end of 2099, valid at any setting of the clock: the certificate is trusted on this machine only. */
const validity = (): Buffer =>
  sequence(tagged(0x17, Buffer.from("000101000000Z")), tagged(0x18, Buffer.from("20991231235959Z")));

/** Makes the files in `<dir>/tls`, again if they are damaged or not valid now. The authority's private key is not stored. */
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
    const authority = new X509Certificate(await readFile(caFile));
    const server = new X509Certificate(await readFile(certFile));
    await readFile(keyFile);
    const [from, to] = [Date.parse(server.validFrom), Date.parse(server.validTo)];
    return server.verify(authority.publicKey) && from < now && now < to;
  } catch {
    return false;
  }
}

async function makeAuthority(dir: string, folder: string): Promise<void> {
  const newKeys = (): KeyPairKeyObjectResult => generateKeyPairSync("ec", { namedCurve: "P-256" });
  const [authority, server] = [newKeys(), newKeys()];
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const temporary = await mkdtemp(join(dir, "tls-"));
  const key = server.privateKey.export({ type: "pkcs8", format: "pem" });
  await writeFile(join(temporary, "ca.pem"), certificatePem(authority.publicKey, authority));
  await writeFile(join(temporary, "server.pem"), certificatePem(server.publicKey, authority));
  await writeFile(join(temporary, "server.key"), key, { mode: 0o600 });
  await rm(folder, { recursive: true, force: true });
  await rename(temporary, folder);
}

const issuer = "graphform local platform";

/** An X.509 v3 certificate of an EC key (RFC 5280): of the authority itself, or of a server at localhost, 127.0.0.1 and ::1. */
function certificatePem(publicKey: KeyObject, authority: KeyPairKeyObjectResult): string {
  const isAuthority = publicKey === authority.publicKey;
  const algorithm = sequence(oid("2a8648ce3d040302"));
  const toBeSigned = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    name(issuer),
    validity(),
    name(isAuthority ? issuer : "localhost"),
    publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(...extensions(publicKey, authority.publicKey))),
  );
  const signature = sign("sha256", toBeSigned, authority.privateKey);
  const certificate = sequence(toBeSigned, algorithm, tagged(0x03, Buffer.from([0]), signature));
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}

function extensions(publicKey: KeyObject, issuerKey: KeyObject): readonly Buffer[] {
  const keyIds = [
    extension("551d0e", tagged(0x04, keyId(publicKey))),
    extension("551d23", sequence(tagged(0x80, keyId(issuerKey)))),
  ];
  if (publicKey === issuerKey)
    return [
      critical("551d13", sequence(tagged(0x01, Buffer.from([0xff])))),
      critical("551d0f", tagged(0x03, Buffer.from([0x01, 0x06]))),
      ...keyIds,
    ];
  const names = [
    tagged(0x82, Buffer.from("localhost")),
    tagged(0x87, Buffer.from([127, 0, 0, 1])),
    tagged(0x87, Buffer.alloc(15), Buffer.from([1])),
  ];
  return [
    critical("551d13", sequence()),
    critical("551d0f", tagged(0x03, Buffer.from([0x07, 0x80]))),
    extension("551d25", sequence(oid("2b06010505070301"))),
    extension("551d11", sequence(...names)),
    ...keyIds,
  ];
}

function keyId(key: KeyObject): Buffer {
  return createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest()
    .subarray(0, 20);
}

function extension(id: string, value: Buffer, ...flags: readonly Buffer[]): Buffer {
  return sequence(oid(id), ...flags, tagged(0x04, value));
}

function critical(id: string, value: Buffer): Buffer {
  return extension(id, value, tagged(0x01, Buffer.from([0xff])));
}

function name(common: string): Buffer {
  return sequence(tagged(0x31, sequence(oid("550403"), tagged(0x0c, Buffer.from(common)))));
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

function oid(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, "hex"));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, ...parts);
}

/** One DER value: tag, length, content. */
function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x1_00 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
