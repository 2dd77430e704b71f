import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { lstatSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openServedWorkspace, type ServedWorkspace } from "../support/served-workspace.ts";
import type { Ran } from "../support/workspace.ts";

let served: ServedWorkspace;

beforeAll(async () => {
  served = await openServedWorkspace("places");
});
afterAll(() => served.close());

/** Runs a line of shell in the user's folder, in which `gf` is graphform. */
async function shell(line: string): Promise<Ran> {
  const { dir, env } = served.user;
  const program = join(inject("packaged"), "bin", "graphform.js");
  const gf = `gf() { "${process.execPath}" "${program}" "$@"; }\n`;
  const child = spawn("bash", ["-c", gf + line], { cwd: dir, env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err] = [text(child.stdout), text(child.stderr)];
  const [code] = await once(child, "close");
  return { code, out: await out, err: await err };
}

const trace = /\n\s+at |node:internal|Node\.js v/;

describe("a full disk", () => {
  it.each([
    ["the text of a plan", "gf plan > /dev/full"],
    ["the JSON of a plan", "gf plan --json > /dev/full"],
    ["the help", "gf --help > /dev/full"],
    ["a schema", "gf schema manifest > /dev/full"],
    ["differences with a code of their own", "gf plan --detailed-exitcode > /dev/full"],
  ])("under standard output is said, and exit 1: %s", async (_, line) => {
    const ran = await shell(line);
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toContain("error: standard output is not complete: no space left on device\n");
    expect(ran.err).not.toMatch(trace);
  });

  it("under standard error ends nothing", async () => {
    expect(await shell("gf plan --trace 2> /dev/full")).toMatchObject({
      code: 0,
      out: expect.stringContaining("Plan: 1 to add"),
    });
    expect(await shell("gf plan -f missing.yaml 2> /dev/full")).toMatchObject({ code: 3 });
  });

  it("under the log is said once, and the run goes on", async () => {
    const ran = await shell("gf apply --auto-approve --log /dev/full");
    expect(ran.code).toBe(0);
    expect(ran.out).toContain("Apply complete! Resources: 1 added");
    expect(ran.err.match(/warning: the log \/dev\/full ends here: no space left on device/g)).toHaveLength(1);
    expect(ran.err).not.toMatch(trace);
  });

  it("under both outputs lets an apply finish", async () => {
    served.user.write(
      "graphform.yaml",
      served.user.read("graphform.yaml").replaceAll("instances:\n  a:", "instances:\n  b:"),
    );
    const ran = await shell("gf apply --auto-approve --allow-destroy instances.a > /dev/full 2>&1");
    expect(ran.code).toBe(1);
    expect(Object.keys(served.user.state("places").resources)).toEqual(["instances.b"]);
  });

  it("under a report is said, with its option", async () => {
    const ran = await shell("gf plan --markdown /dev/full");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("--markdown cannot be written to /dev/full: no space left on device");
  });
});

describe("a reader that goes away", () => {
  it("ends nothing, whatever is still to be printed", async () => {
    const ran = await shell("{ gf explain; echo ended $? >&2; } | head -n 1");
    expect(ran.err).toBe("ended 0\n");
  });
});

describe("a report", () => {
  /** The options of each command that name a file. */
  const commands = [
    ["plan", ["--out", "--markdown", "--html", "--sarif", "--gitlab"]],
    ["drift", ["--prometheus", "--junit", "--markdown", "--html", "--sarif"]],
  ] as const;
  /** One for each way to write. */
  const ways = [
    ["plan", "--out"],
    ["plan", "--markdown"],
    ["drift", "--prometheus"],
  ] as const;

  it.each(commands)(
    "of %s is written through a link, which stays one, be there a file or not",
    async (command, options) => {
      const { user } = served;
      const links = options.flatMap((option) => [[option, `${command}${option}`] as const]);
      for (const isThere of [false, true]) {
        for (const [, link] of links) {
          if (isThere) user.write(`to-${link}`, "before");
          else symlinkSync(`to-${link}`, join(user.dir, link));
        }
        await shell(`gf ${command} ${links.flat().join(" ")}`);
        for (const [, link] of links) {
          expect(lstatSync(join(user.dir, link)).isSymbolicLink()).toBe(true);
          expect(user.read(`to-${link}`).length).toBeGreaterThan("before".length);
        }
      }
    },
  );

  it.each(ways)(
    "of %s %s goes to standard output by its name, be it a pipe, a file or a socket",
    async (command, option) => {
      const plain = await shell(`gf ${command}`);
      const line = `gf ${command} ${option} /dev/stdout`;
      const [piped, filed, sent] = [
        await shell(`${line} | cat`),
        await shell(`${line} > both.txt`),
        await shell(line),
      ];
      expect([piped.err, filed.err, sent.err].join("")).not.toContain("error:");
      for (const both of [piped.out, served.user.read("both.txt"), sent.out])
        expect(both.length).toBeGreaterThan(plain.out.length + 50);
    },
  );

  it.each(ways)("of %s %s leaves a device what it is", async (command, option) => {
    await shell(`gf ${command} ${option} /dev/null`);
    expect(lstatSync("/dev/null").isCharacterDevice()).toBe(true);
  });

  it.each([...ways, ["plan", "--log"], ["apply --auto-approve", "--log"]] as const)(
    "of %s %s into a named pipe says that it waits for a reader, and waits",
    async (command, option) => {
      const pipe = `pipe${option}`;
      const line = `mkfifo ${pipe}; : > said.txt
gf ${command} ${option} ${pipe} > /dev/null 2> said.txt & writer=$!
while ! grep -q . said.txt; do sleep 0.05; done
cat ${pipe}; wait $writer; echo "code $?"; rm ${pipe}`;
      const ran = await shell(line);
      expect(served.user.read("said.txt")).toContain(`waiting for a reader of ${pipe}\n`);
      expect(ran.out).toMatch(/code [02]\n$/);
      if (!(command === "plan" && option === "--log")) expect(ran.out.length).toBeGreaterThan(20);
    },
  );

  it("is waited for until Ctrl-C, too", async () => {
    spawnSync("mkfifo", [join(served.user.dir, "never")]);
    const running = served.user.start("plan", "--out", "never");
    await running.said("waiting for a reader of never");
    running.child.kill("SIGINT");
    expect((await running.ended).code).toBe(130);
    const logging = served.user.start("plan", "--log", "never");
    await logging.said("waiting for a reader of never");
    logging.child.kill("SIGINT");
    expect((await logging.ended).code).toBe(130);
  });
});

describe("a mistake in each of very many lines", () => {
  it("is shown a hundred times, and counted", async () => {
    const { user } = served;
    const lines = Array.from({ length: 20_000 }, (_, at) => `key${at}: 1`);
    user.write("many.yaml", `apiVersion: graphform/v1\nname: many\n${lines.join("\n")}\n`);
    for (const command of ["validate", "plan"]) {
      const ran = await shell(`gf ${command} -f many.yaml`);
      expect(ran.code).toBe(3);
      expect(ran.err.match(/^many\.yaml:\d+:\d+: error:/gm)).toHaveLength(100);
      expect(ran.err).toContain(
        "100 problems\nand 19900 more problems: graphform validate --json shows them\n",
      );
    }
  });
});
