/** @module Encodes X.509 certificates in PEM. */
import { createHash, type KeyObject, randomBytes, sign } from "node:crypto";

/** Contents of a certificate. */
export interface CertificateContent {
  readonly subject: string;
  readonly issuer: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
  /** An EC public key. */
  readonly publicKey: KeyObject;
  /** The issuer's keys; its private key signs. */
  readonly issuerPublicKey: KeyObject;
  readonly issuerPrivateKey: KeyObject;
  /** True for an authority, which signs certificates; other certificates are for localhost, 127.0.0.1 and ::1. */
  readonly isAuthority: boolean;
}

/** An X.509 v3 certificate, signed with ECDSA over SHA-256 (RFC 5280). */
export function certificatePem(content: CertificateContent): string {
  const algorithm = sequence(oid("2a8648ce3d040302"));
  const toBeSigned = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    name(content.issuer),
    sequence(time(content.notBefore), time(content.notAfter)),
    name(content.subject),
    content.publicKey.export({ type: "spki", format: "der" }),
    tagged(0xa3, sequence(...extensions(content))),
  );
  const signature = sign("sha256", toBeSigned, content.issuerPrivateKey);
  const lines =
    sequence(toBeSigned, algorithm, bits(signature))
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}

function extensions({ isAuthority, publicKey, issuerPublicKey }: CertificateContent): readonly Buffer[] {
  const keyIds = [
    extension("551d0e", tagged(0x04, keyId(publicKey))),
    extension("551d23", sequence(tagged(0x80, keyId(issuerPublicKey)))),
  ];
  if (isAuthority) {
    const signsCertificates = tagged(0x03, Buffer.from([0x01, 0x06]));
    return [
      critical("551d13", sequence(tagged(0x01, Buffer.from([0xff])))),
      critical("551d0f", signsCertificates),
      ...keyIds,
    ];
  }
  const names = [
    tagged(0x82, Buffer.from("localhost")),
    tagged(0x87, Buffer.from([127, 0, 0, 1])),
    tagged(0x87, Buffer.concat([Buffer.alloc(15), Buffer.from([1])])),
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

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), tagged(0x04, value));
}

function critical(id: string, value: Buffer): Buffer {
  return sequence(oid(id), tagged(0x01, Buffer.from([0xff])), tagged(0x04, value));
}

function name(common: string): Buffer {
  return sequence(tagged(0x31, sequence(oid("550403"), tagged(0x0c, Buffer.from(common)))));
}

/** UTCTime until 2049, GeneralizedTime from then on. */
function time(date: Date): Buffer {
  const text = `${date.toISOString().replace(/[-:T]|\.\d+/g, "")}`;
  return date.getUTCFullYear() < 2050
    ? tagged(0x17, Buffer.from(text.slice(2)))
    : tagged(0x18, Buffer.from(text));
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

function bits(bytes: Buffer): Buffer {
  return tagged(0x03, Buffer.concat([Buffer.from([0]), bytes]));
}

function oid(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, "hex"));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts));
}

/** One DER value: tag, length, content. */
function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x1_00 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
