import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, it } from "vitest";
import { ensureAuthority } from "../../../src/platform/engine/tls.ts";
import { type Ran, runHere } from "../../support/command-line.ts";
import { openFolder } from "../../support/unprivileged.ts";
import { startServed } from "../support/serve.ts";

describe("graphform serve", () => {
  const folder = openFolder("serve");

  it("is ready with one line, keeps the last configuration at a mistake, and ends with 0 at SIGTERM", async () => {
    const config = join(folder, "controller.yaml");
    writeFileSync(config, "tenants: { shop: { auto: safe } }\n");
    const served = await startServed(folder, "--config", config);
    expect(statSync(join(folder, "db", "admin-token")).mode & 0o777).toBe(0o600);
    expect((await fetch(new URL("/readyz", served.url))).status).toBe(200);
    expect(served.said(), "a first start says nothing else").toBe("");
    writeFileSync(config, "tenants: { shop: { auto: sometimes } }\n");
    process.kill(served.pid, "SIGHUP");
    await expect
      .poll(() => served.said(), { timeout: 20_000 })
      .toMatch(/controller\.yaml:1:.*\nthe last configuration stays in force\n$/);
    const listed = await runHere(["fleet", "list", "--json"], served.env);
    expect(JSON.parse(listed.out)).toEqual({ manifests: [], next: null });

    const db = ["--embedded", join(folder, "db")];
    const doctor = await runHere(["serve", "doctor", ...db, "--config", config], {});
    expect(doctor.code).toBe(1);
    expect(doctor.out.match(/^failed.*$/gm)).toEqual([expect.stringContaining("configuration")]);
    const migrated = await runHere(["serve", "migrate", ...db, "--json"], {});
    expect(JSON.parse(migrated.out)).toEqual({ migrations: [] });
    expect(await served.end("SIGTERM")).toBe(0);
  });

  it("says at its start that its folder is a copy, once", async () => {
    const folder = openFolder("serve");
    const first = await startServed(folder);
    expect(await first.end("SIGTERM")).toBe(0);
    const again = await startServed(folder);
    expect(again.said()).not.toContain("put back from a copy");
    expect(await again.end("SIGTERM")).toBe(0);
    const [db, copy] = [join(folder, "db"), join(folder, "copy")];
    execFileSync("cp", ["-a", db, copy]);
    rmSync(db, { recursive: true });
    execFileSync("cp", ["-a", copy, db]);
    const restored = await startServed(folder);
    expect(restored.said()).toContain("put back from a copy");
    expect(await restored.end("SIGTERM")).toBe(0);
  });

  it("speaks TLS, keeps its certificate if the next one is none, and is not trusted without its authority", async () => {
    const folder = openFolder("serve");
    const config = join(folder, "controller.yaml");
    const { certFile, keyFile } = await ensureAuthority(folder);
    const tls = `{ certificate: ${certFile}, key: ${keyFile} }`;
    writeFileSync(config, `tenants: { shop: {} }\nhttp: { tls: ${tls} }\n`);
    const served = await startServed(folder, "--config", config);
    expect(served.url).toMatch(/^https:/);
    const list = (url: string): Promise<Ran> =>
      runHere(["fleet", "list"], { ...served.env, GRAPHFORM_CONTROLLER_URL: url });
    expect(await list(served.url)).toMatchObject({
      ...{ code: 1, err: expect.stringMatching(/certificate that is not trusted[\s\S]*NODE_EXTRA_CA_CERTS/) },
    });
    expect((await list(served.url.replace("https", "http"))).err).toContain("does not answer by http: ");
    writeFileSync(certFile, "no certificate");
    process.kill(served.pid, "SIGHUP");
    await expect
      .poll(() => served.said(), { timeout: 20_000 })
      .toMatch(/http\.tls cannot be read, or they do not fit: .*server\.pem, .*server\.key\nthe last/);
    expect((await list(served.url)).err).toContain("certificate that is not trusted");
    expect(await served.end("SIGTERM")).toBe(0);
    const again = await runHere(
      ["serve", "--embedded", join(folder, "db"), "--listen", "127.0.0.1:0", "--config", config],
      {},
    );
    expect(again).toMatchObject({ code: 1, err: expect.stringContaining("http.tls cannot be read") });
  });

  it("ends with 1 when its PostgreSQL ends", async () => {
    const served = await startServed(folder);
    const file = join(folder, "db", "data", "postmaster.pid");
    process.kill(Number(readFileSync(file, "utf8").split("\n")[0]), "SIGQUIT");
    expect(await served.end("SIGCONT")).toBe(1);
    expect(served.said()).toContain("the embedded PostgreSQL has ended");
  });

  it("refuses a database that it is not told, and one that does not answer", async () => {
    const none = await runHere(["serve"], {});
    expect(none).toMatchObject({ code: 1, err: expect.stringContaining("--embedded DIR") });
    const url = "postgres://somebody:a-password@127.0.0.1:1/db";
    const away = await runHere(["serve", "migrate"], { GRAPHFORM_CONTROLLER_DATABASE_URL: url });
    expect(away).toMatchObject({ code: 1, err: expect.stringContaining("does not answer") });
    expect(away.err).not.toContain("a-password");
    const doctor = await runHere(["serve", "doctor"], { GRAPHFORM_CONTROLLER_DATABASE_URL: url });
    expect(doctor.code).toBe(1);
    expect(doctor.out.match(/^failed.*$/gm)).toEqual([expect.stringContaining("does not answer")]);
  });
});
