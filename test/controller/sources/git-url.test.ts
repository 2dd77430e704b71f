import { describe, expect, it } from "vitest";
import { isPrivate } from "../../../src/controller/networks.ts";
import { assertSource } from "../../../src/controller/sources/git.ts";
import { allowedUrl, fitsPattern, gitPattern } from "../../../src/controller/sources/git-url.ts";

describe("a pattern fits", () => {
  it.each([
    ["https://git.example.com/*", "https://git.example.com/team/shop.git"],
    ["https://git.example.com/*", "https://GIT.example.com/team/shop"],
    ["https://git.example.com/*", "https://git.example.com:443/team/shop"],
    ["https://git.example.com/team/*", "https://git.example.com/team/shop"],
    ["https://git.example.com/team/shop.git", "https://git.example.com/team/shop.git/"],
    ["https://*.example.com/*", "https://git.example.com/team/shop"],
    ["https://*/*", "https://git.example.org/team/shop"],
    ["http://127.0.0.1:8080/*", "http://127.0.0.1:8080/a"],
    ["file:///srv/git/*", "file:///srv/git/shop.git"],
  ])("%s: %s", (pattern, url) => expect(fitsPattern(url, pattern)).toBe(true));
});

describe("a pattern does not fit", () => {
  it.each([
    ["https://git.example.com/*", "https://git.example.com/", "no repository"],
    ["https://git.example.com/*", "https://git.example.com.evil.example/a", "another host that begins so"],
    ["https://git.example.com/*", "https://evilgit.example.com/a", "another host that ends so"],
    ["https://git.example.com/*", "https://git.example.com@evil.example/a", "a login"],
    ["https://git.example.com/*", "https://user:pass@git.example.com/a", "credentials"],
    ["https://git.example.com/*", "http://git.example.com/a", "another scheme"],
    ["https://git.example.com/*", "https://git.example.com:8443/a", "another port"],
    ["https://git.example.com/*", "https://git.example.com\\@evil.example/a", "a backslash"],
    ["https://git.example.com/*", "https://git.example.com/a?service=x", "a query"],
    ["https://git.example.com/*", "https://git.example.com/a#b", "a fragment"],
    ["https://git.example.com/*", "https://git.example.com/a b", "a blank"],
    ["https://git.example.com/*", "https://git.example.com/a\n", "a line end"],
    ["https://git.example.com/team/*", "https://git.example.com/team/../other/shop", "steps upwards"],
    [
      "https://git.example.com/team/*",
      "https://git.example.com/team/%2e%2e/other/shop",
      "steps upwards in escapes",
    ],
    ["https://git.example.com/team/*", "https://git.example.com/team//other", "an empty step"],
    ["https://git.example.com/team/*", "https://git.example.com/team", "the folder itself"],
    ["https://git.example.com/team/*", "https://git.example.com/teams/shop", "a path that begins so"],
    ["https://git.example.com/team/*", "https://git.example.com/team/--upload-pack=x", "an option"],
    ["https://*.example.com/*", "https://example.com/a", "the domain itself"],
    ["https://*.example.com/*", "https://git.example.com.evil.example/a", "another domain"],
    ["file:///srv/git/*", "file:///srv/git/../../etc", "steps upwards in the file system"],
    ["file:///srv/git/*", "file://host/srv/git/a", "a host"],
    ["file:///srv/git/*", "/srv/git/a", "a path"],
    ["https://*/*", "ext::sh -c touch% /tmp/x", "a program"],
    ["https://*/*", "ssh://git@git.example.com/a", "SSH"],
    ["https://*/*", "git@git.example.com:a", "SSH in short"],
    ["https://*/*", "git://git.example.com/a", "the protocol of git"],
    ["https://*/*", "--upload-pack=touch /tmp/x", "an option in place of an address"],
  ])("%s: %s, %s", (pattern, url) => expect(fitsPattern(url, pattern)).toBe(false));

  it.each([
    "https://git.*.com/*",
    "https://git.example.com/*/a",
    "*",
    "https://*git.example.com/*",
    "ssh://git@host/*",
    "ext::*",
  ])("%s is no pattern", (pattern) => expect(typeof gitPattern(pattern)).toBe("string"));
});

describe("a host in a private network", () => {
  it.each([
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fd00::1",
    "::ffff:10.0.0.1",
    "::ffff:a00:1",
    "64:ff9b::a00:1",
    "2002:a00:1::",
    "2001:db8::1",
    "not an address",
  ])("is %s", (address) => expect(isPrivate(address)).toBe(true));

  it.each(["93.184.216.34", "172.32.0.1", "2606:2800:220:1::1", "::ffff:93.184.216.34"])(
    "is not %s",
    (address) => {
      expect(isPrivate(address)).toBe(false);
    },
  );

  const resolving =
    (...addresses: readonly string[]) =>
    async (): Promise<readonly string[]> =>
      addresses;

  it("is allowed only if a pattern writes it out", async () => {
    const url = "https://git.internal.example/a";
    const anyHost = allowedUrl(url, ["https://*/*"], resolving("93.184.216.34", "10.0.0.1"));
    await expect(anyHost).rejects.toMatchObject({
      code: "source-refused",
      message: expect.stringContaining("private network"),
    });
    const written = await allowedUrl(
      url,
      ["https://*/*", "https://git.internal.example/*"],
      resolving("10.0.0.1"),
    );
    expect(written).toEqual({ url, scheme: "https" });
  });

  it("is not reached by another answer of DNS: the addresses that were checked are the ones that are used", async () => {
    expect(
      await allowedUrl("https://git.example.com/a", ["https://*.example.com/*"], resolving("93.184.216.34")),
    ).toEqual({
      url: "https://git.example.com/a",
      scheme: "https",
      pinned: { host: "git.example.com", port: 443, addresses: ["93.184.216.34"] },
    });
  });

  it.each(["https://2130706433/a", "https://0x7f.1/a", "https://127.1/a", "https://localhost/a"])(
    "is found in the notation %s",
    async (url) => {
      await expect(allowedUrl(url, ["https://*/*"])).rejects.toMatchObject({ code: "source-refused" });
    },
  );
});

describe("a ref and a path", () => {
  it.each([
    ["main", ""],
    ["feature/one", "deploy/prod"],
    ["v1.2.3", "a.yaml"],
    ["refs/heads/main", "./a b/c.yaml"],
  ])("may be %s and %j", (ref, path) => expect(() => assertSource({ ref, path })).not.toThrow());

  it.each([
    "--upload-pack=touch /tmp/x",
    "-x",
    "*",
    "ma?n",
    "a..b",
    "a@{1}",
    "a^",
    "a:b",
    "a b",
    "a\nb",
    "",
    "refs//a",
    "a.lock",
    "/a",
    "a/",
  ])("refuse the ref %j", (ref) =>
    expect(() => assertSource({ ref, path: "" })).toThrow("the ref is no name"),
  );

  it.each([
    "../x",
    "a/../../x",
    "/etc",
    "-x",
    "a/-x",
    ":(glob)**",
    "a:b",
    "a\nb",
    "a\0",
    "*",
    "~/x",
    "$HOME",
    "a/".repeat(40),
  ])("refuse the path %j", (path) =>
    expect(() => assertSource({ ref: "main", path })).toThrow("the path is not that"),
  );
});
