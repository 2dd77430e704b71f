import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/model/json.ts";
import { check } from "../manifest/check.ts";
import { checkSections, tierBase } from "./sample.ts";

const password = "$" + "{env.PASSWORD}";
const reader: JsonObject = { instance: "a", username: "reader", password, acl: "~* +PING" };
const instances: JsonObject = {
  a: { ...tierBase["free"], config: { graphdbUser: "app" } },
  b: tierBase["free"] ?? {},
};

async function errorsOf(users: JsonObject): Promise<readonly string[]> {
  return (await checkSections({ instances, users })).errors;
}

describe("users (specification 2.7)", () => {
  it.each([
    ["grants of the list", "~* +GRAPH.QUERY +INFO", true],
    ["in small letters", "~* +graph.query +info", true],
    ["a subcommand of a listed command", "+CLIENT|LIST", true],
    ["a listed subcommand", "+MODULE|LIST", true],
    ["its command alone is not listed", "+MODULE", false],
    ["another subcommand of it neither", "+MODULE|LOAD", false],
    ["a command that is not listed", "+CONFIG", false],
    ["a category", "+@all", false],
    ["whatever is taken away", "-CONFIG -@dangerous -client|kill +PING", true],
    ["patterns of every sort", "~a:* %R~b %w~c %RW~d", true],
    ["quotes keep a rule together", "'~a b' +PING", true],
    ["quotes hide no grant", "'+CONFIG' +PING", false],
    ["a plus inside a word is no grant", "~a+CONFIG", true],
  ])("acl: %s", async (_, acl, fine) => {
    expect(await errorsOf({ reader: { ...reader, acl } })).toEqual(fine ? [] : ["users.reader acl-command"]);
  });

  it.each<[string, string, string]>([
    [">hunter2", "acl holds a password (rule 2)", "write the password under password:"],
    ["<hunter2", "acl holds a password (rule 2)", "under password:"],
    ["#hunter2", "acl holds a password (rule 2)", "under password:"],
    ["!hunter2", "acl holds a password (rule 2)", "under password:"],
    ["'>hunter2 hunter3'", "acl holds a password (rule 2)", "under password:"],
    ["'>hunter2 hunter3", "acl holds a password (rule 2)", "under password:"],
    ["nopass", 'acl holds "nopass" (rule 2)', "under password:"],
    ["ON", 'acl holds "on" (rule 2)', "leave it out"],
    ["off", 'acl holds "off" (rule 2)', "remove the user"],
    ["allcommands", 'acl holds "allcommands" (rule 2)', "single commands"],
    ["allkeys", 'acl holds "allkeys" (rule 2)', "~*"],
    ["resetpass", 'acl holds "resetpass" (rule 2)', "under password:"],
    ["&chan", "acl names a channel (rule 2)", "leave it out"],
    ["(~hunter2", "acl holds what is no rule (rule 2)", "+COMMAND"],
    ["hunter2", "acl holds what is no rule (rule 2)", "+COMMAND"],
    ["%X~a", "acl holds what is no rule (rule 2)", "%R~PATTERN"],
  ])("acl: %s is refused with its place and the way out, and not repeated", async (rule, message, hint) => {
    for (const acl of [`~* ${rule} +PING`, `~${"$"}{instances.a.host} ${rule}`]) {
      const { problems } = await checkSections({ instances, users: { reader: { ...reader, acl } } });
      expect(problems[0]).toMatchObject({ code: "acl-rule", message, hint: expect.stringContaining(hint) });
      expect(problems[0]?.range.start.column).toBeGreaterThan(1);
      expect(JSON.stringify(problems)).not.toMatch(/hunter[23]/);
    }
  });

  it("tells rules of one sort together", async () => {
    const { problems } = await checkSections({
      instances,
      users: { reader: { ...reader, acl: ">a on #b >c &d" } },
    });
    expect(problems.slice(0, 3).map(({ message }) => message)).toEqual([
      "acl holds a password (rule 1, 3, 4)",
      'acl holds "on" (rule 2)',
      "acl names a channel (rule 5)",
    ]);
  });

  it("names every command that is refused, once", async () => {
    const { problems } = await checkSections({
      instances,
      users: { reader: { ...reader, acl: "+CONFIG +ACL +CONFIG +PING" } },
    });
    expect(problems[0]?.message).toBe("acl grants what the service does not allow: +CONFIG, +ACL");
  });

  it.each([
    ["me", false],
    ["you", true],
    ["éée", true],
  ])("username %s: %s", async (username, fine) => {
    expect(await errorsOf({ reader: { ...reader, username } })).toEqual(
      fine ? [] : ["users.reader too-short"],
    );
  });

  it.each<[string | undefined, readonly string[]]>([
    ["12345", ["too-short"]],
    ["123456", []],
    [undefined, []],
  ])("a password that reads %s", async (text, codes) => {
    const sections = { apiVersion: "graphform/v1", name: "sample", instances, users: { reader } };
    const { problems } = await check(JSON.stringify(sections), { secretText: () => text });
    expect(problems.map(({ code }) => code)).toEqual(codes);
    expect(JSON.stringify(problems)).not.toContain("12345");
  });

  it("no two of one name on one instance", async () => {
    expect(await errorsOf({ reader, copy: reader })).toEqual(["users.copy duplicate-user"]);
    expect(await errorsOf({ reader, other: { ...reader, instance: "b" } })).toEqual([]);
    expect(await errorsOf({ reader, other: { ...reader, username: "writer" } })).toEqual([]);
  });

  it("none called like the instance's first user", async () => {
    expect(await errorsOf({ reader: { ...reader, username: "app" } })).toEqual([
      "users.reader duplicate-user",
    ]);
  });
});
