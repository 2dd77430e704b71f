import { X509Certificate } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:tls";
import { describe, expect, it } from "vitest";
import { ensureAuthority } from "../../../src/platform/engine/tls.ts";
import { ask, countNodes, prepare, until } from "./fixture.ts";

const ground = prepare();

describe("a database with TLS", () => {
  it("serves those who trust the platform's authority, and nobody without TLS", async () => {
    const tls = await ensureAuthority(join(ground.folder, "one"));
    const ca = await readFile(tls.caFile);
    const database = await ground.engine.start(ground.spec({ tls }));
    expect(await ask(database, ["PING"], { ca })).toBe("PONG");
    expect(await database.ping()).toBe(true);
    await expect(ask(database, ["PING"])).rejects.toThrow(/closed|ECONNRESET|hang up/i);
    await expect(ask(database, ["PING"], { ca: Buffer.from("") })).rejects.toThrow(/certificate/);
  });

  it.each(["localhost", "127.0.0.1"])("has a certificate for %s", async (host) => {
    const tls = await ensureAuthority(join(ground.folder, "one"));
    const database = await ground.engine.start(ground.spec({ tls }));
    const ca = await readFile(tls.caFile);
    const error = await new Promise((resolve) => {
      const socket = connect({ host: "127.0.0.1", port: database.port(), ca, servername: "localhost" });
      socket.once("error", resolve);
      socket.once("secureConnect", () => {
        const certificate = new X509Certificate(socket.getPeerCertificate().raw);
        resolve(certificate.checkHost(host) ?? certificate.checkIP(host));
        socket.destroy();
      });
    });
    expect(error).toBe(host);
  });

  it("replicates, fails over and stops with its data", async () => {
    const tls = await ensureAuthority(join(ground.folder, "one"));
    const ca = await readFile(tls.caFile);
    const spec = ground.spec({ tls, nodes: 2 });
    const database = await ground.engine.start(spec);
    const port = database.port();
    await ask(database, ["GRAPH.QUERY", "g", "UNWIND range(1, 6) AS i CREATE (:N)"], { ca });
    await database.failover();
    expect(await countNodes(database, { ca })).toBe(6);
    await until(async () => (await countNodes(database, { ca, port })) === 6);
    await database.stop();
    expect(await countNodes(await ground.engine.start(spec), { ca })).toBe(6);
  });
});

describe("the authority", () => {
  it("is made once, also by two who ask at once, and its certificate is its own", async () => {
    const dir = join(ground.folder, "two");
    const [files] = await Promise.all([ensureAuthority(dir), ensureAuthority(dir)]);
    const before = await readFile(files.caFile, "utf8");
    await ensureAuthority(dir);
    expect(await readFile(files.caFile, "utf8")).toBe(before);
    const authority = new X509Certificate(before);
    const server = new X509Certificate(await readFile(files.certFile));
    expect(authority.ca).toBe(true);
    expect(server.ca).toBe(false);
    expect(server.checkIssued(authority)).toBe(true);
    expect(server.verify(authority.publicKey)).toBe(true);
    expect(server.subjectAltName).toBe("DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1");
    expect((await stat(files.keyFile)).mode & 0o077).toBe(0);
  });

  it("holds however far the clock is set, on or back", async () => {
    const dir = join(ground.folder, "three");
    const files = await ensureAuthority(dir);
    const first = await readFile(files.caFile, "utf8");
    for (const file of [files.caFile, files.certFile]) {
      const { validFrom, validTo } = new X509Certificate(await readFile(file));
      expect([Date.parse(validFrom), Date.parse(validTo)]).toEqual([
        Date.parse("2000-01-01T00:00:00Z"),
        Date.parse("2099-12-31T23:59:59Z"),
      ]);
    }
    for (const days of [-3650, -3, -1, 1, 3, 3650])
      await ensureAuthority(dir, Date.now() + days * 86_400_000);
    expect(await readFile(files.caFile, "utf8")).toBe(first);
  });

  it("is made anew when a file of it is damaged", async () => {
    const dir = join(ground.folder, "six");
    const files = await ensureAuthority(dir);
    const first = await readFile(files.caFile, "utf8");
    await writeFile(files.certFile, "nonsense");
    await ensureAuthority(dir);
    expect(await readFile(files.caFile, "utf8")).not.toBe(first);
  });

  it("differs from one data folder to the next", async () => {
    const [one, two] = await Promise.all(
      ["four", "five"].map((name) => ensureAuthority(join(ground.folder, name))),
    );
    expect(await readFile(one?.caFile ?? "")).not.toEqual(await readFile(two?.caFile ?? ""));
  });
});
