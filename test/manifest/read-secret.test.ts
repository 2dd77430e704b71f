import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { beforeAll, describe, expect, it } from "vitest";
import { noSecrets, secretBytes, secretReader } from "../../src/manifest/read-secret.ts";
import { defined } from "../../src/model/json.ts";
import type { SecretSource } from "../../src/model/manifest.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let folder = "";
beforeAll(() => {
  folder = temporaryFolder("secret");
});

const node = process.execPath;
const read = secretReader({ SET: "from the environment", EMPTY: "" }, 5000);
const script = (code: string): SecretSource => ({ command: [node, "-e", code] });

function stored(name: string, content: string | Uint8Array): SecretSource {
  const path = join(folder, name);
  writeFileSync(path, content);
  return { file: path };
}

describe("a secret is read", () => {
  it("from the environment", async () => {
    expect(await read("secret.a", { env: "SET" })).toBe("from the environment");
  });

  it.each([
    ["one newline is cut", "text\n", "text"],
    ["a Windows newline is cut", "text\r\n", "text"],
    ["only the last one is", "a\nb\n\n", "a\nb\n"],
    ["spaces stay", " text ", " text "],
  ])("from a file: %s", async (reason, content, expected) => {
    expect(await read("secret.a", stored(reason.replaceAll(" ", "-"), content))).toBe(expected);
  });

  it("from a command's words, without a shell", async () => {
    const source: SecretSource = { command: [node, "-p", "process.argv[1]", "$(echo no) ; `no` > x"] };
    expect(await read("secret.a", source)).toBe("$(echo no) ; `no` > x");
  });

  it.each([
    ["what every program needs", undefined, "HOME,LANG,LC_ALL,PATH"],
    ["the variables that are named besides", ["VAULT_ADDR", "ABSENT"], "HOME,LANG,LC_ALL,PATH,VAULT_ADDR"],
  ])("by a command that gets %s, and no credential", async (_, variables, names) => {
    const env = {
      ...{ PATH: process.env["PATH"], HOME: "/h", LANG: "C.UTF-8", LC_ALL: "C.UTF-8", VAULT_ADDR: "v" },
      ...{
        GRAPHFORM_PASSWORD: "p",
        GRAPHFORM_STATE_TOKEN: "t",
        AWS_SECRET_ACCESS_KEY: "k",
        GITHUB_TOKEN: "g",
      },
    };
    const command = [node, "-p", "Object.keys(process.env).sort().join()"];
    const source: SecretSource = { command, ...defined({ variables }) };
    expect(await secretReader(env, 5000)("secret.a", source)).toBe(names);
  });

  it("or not at all", () => {
    expect(noSecrets("secret.a", { env: "SET" })).toBeUndefined();
  });
});

describe("a secret cannot be had", () => {
  it.each<[string, () => SecretSource, string]>([
    [
      "the variable is not set",
      () => ({ env: "UNSET" }),
      "secret.a: the environment variable UNSET is not set",
    ],
    [
      "a variable like a method",
      () => ({ env: "constructor" }),
      "the environment variable constructor is not set",
    ],
    ["the variable is empty", () => ({ env: "EMPTY" }), "the environment variable EMPTY is empty"],
    ["the file is not there", () => ({ file: join(folder, "absent") }), "cannot be read: ENOENT"],
    [
      "the file is too large",
      () => stored("large", "x".repeat(secretBytes + 1)),
      `larger than ${secretBytes} bytes`,
    ],
    ["the file is binary", () => stored("binary", Uint8Array.from([0xff, 0xfe, 0x80])), "not UTF-8"],
    ["the program is not there", () => ({ command: [join(folder, "absent")] }), "cannot be started"],
    [
      "the command fails",
      () => script("console.error('hunter2'); process.exit(3)"),
      "failed with exit code 3",
    ],
    [
      "the command is ended",
      () => script("process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 1e5)"),
      "was ended by SIGTERM",
    ],
    [
      "the command never stops printing",
      () => script("setInterval(() => console.log('x'.repeat(1e5)), 0)"),
      "printed more than",
    ],
    ["the command prints bytes", () => script("process.stdout.write(Buffer.from([0xff]))"), "not UTF-8"],
  ])("%s", async (_, source, message) => {
    const error: unknown = await Promise.resolve(read("secret.a", source())).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({
      code: "secret-unavailable",
      message: expect.stringContaining(message),
      hint: expect.any(String),
    });
    expect(String(error)).not.toContain("hunter2");
  });

  it("the command takes too long", async () => {
    const soon = secretReader({}, 50);
    const error: unknown = await Promise.resolve(soon("secret.a", script("setTimeout(() => {}, 1e5)"))).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ message: expect.stringContaining("did not finish within 50 ms") });
  });
});
