// What JavaScript clients of real products make of an episode: `node clients.js CLIENT '{"url": ..., ...}'`
// prints one JSON document, or fails with the client's own error.

const clients = {
  async octokit({ url, token }) {
    const { Octokit } = await import("octokit"); // with its plugins for retries and throttling
    const hub = new Octokit({ baseUrl: `${url}/api/v3`, auth: token, throttle: { enabled: false } });
    const at = { owner: "acme", repo: "app" };
    const issues = await hub.paginate(hub.rest.issues.listForRepo, { ...at, state: "all", per_page: 2 });
    const made = await hub.rest.issues.create({ ...at, title: "From Octokit", body: "✎" });
    await hub.rest.issues.update({ ...at, issue_number: made.data.number, state: "closed" });
    const raw = await hub.rest.repos.getContent({ ...at, path: "README.md", mediaType: { format: "raw" } });
    const file = await hub.rest.repos.getContent({ ...at, path: "README.md" });
    const [pull] = (await hub.rest.pulls.list(at)).data;
    const patch = await hub.rest.pulls.get({ ...at, pull_number: pull.number, mediaType: { format: "patch" } });
    const protection = await hub.rest.repos.getBranchProtection({ ...at, branch: "guarded" });
    const started = Date.now();
    const missing = await hub.request("PROPPATCH /repos/{owner}/{repo}", at).catch((error) => error.status);
    const { repository } = await hub.graphql(
      "query($n: Int!) { repository(owner: \"acme\", name: \"app\") { issues(first: $n) { totalCount nodes { title } } } }",
      { n: 3 },
    );
    return {
      graphql: repository.issues.nodes.length,
      issues: issues.length,
      raw: raw.data,
      downloaded: await (await fetch(file.data.download_url)).text(),
      patch: patch.data.slice(0, 5),
      approvals: protection.data.required_pull_request_reviews.required_approving_review_count,
      missing,
      waited: Date.now() - started > 5000,
    };
  },

  async woocommerce({ url, token }) {
    const loaded = (await import("@woocommerce/woocommerce-rest-api")).default;
    const Shop = loaded.default ?? loaded;
    const shop = new Shop({ url, consumerKey: token, consumerSecret: token, version: "wc/v3" });
    const listed = await shop.get("products", { per_page: 2, orderby: "price", order: "desc" });
    const made = await shop.post("products", { name: "Bench", regular_price: "12.50", categories: [{ id: 16 }] });
    const changed = await shop.put(`products/${made.data.id}`, { ...made.data, regular_price: "14.00" });
    const refused = await shop
      .put(`products/${made.data.id}`, { global_unique_id: "4006381333931" })
      .catch((error) => error.response.data);
    const gone = await shop.delete(`products/${made.data.id}`, { force: true });
    return {
      listed: listed.data.length,
      total: Number(listed.headers["x-wp-total"]) > 2,
      price: changed.data.regular_price,
      refused: [refused.code, Object.keys(refused.data.params)],
      gone: gone.data.name,
    };
  },

  async google({ url, token }) {
    const { google } = await import("googleapis");
    const auth = new google.auth.OAuth2();
    auth.setCredentials({ access_token: token });
    const calendar = google.calendar({ version: "v3", auth });
    const here = { rootUrl: `${url}/` };
    const listed = await calendar.events.list({ calendarId: "primary", maxResults: 3 }, here);
    const told = { sendUpdates: "all", conferenceDataVersion: 0, supportsAttachments: true, maxAttendees: 9 };
    const quick = await calendar.events.quickAdd({ calendarId: "primary", text: "Tea tomorrow 3pm" }, here);
    const fields = "items(id),nextPageToken";
    const part = await calendar.events.list({ calendarId: "primary", fields, eventTypes: ["default"] }, here);
    const settings = await calendar.settings.list({}, here);
    const start = { dateTime: "2025-03-03T09:00:00Z" };
    const end = { dateTime: "2025-03-03T10:00:00Z" };
    const made = await calendar.events.insert({ calendarId: "primary", requestBody: { summary: "Ø", start, end }, ...told }, here);
    const one = { calendarId: "primary", eventId: made.data.id };
    const moved = await calendar.events.patch({ ...one, requestBody: { start } }, here);
    const put = await calendar.events.update({ ...one, requestBody: { ...moved.data, summary: "New" } }, here);
    await calendar.events.delete(one, here);
    const bare = Object.keys(part.data.items[0]).join();
    const known = settings.data.items.some((one) => one.id === "timezone");
    return { listed: listed.data.items.length, summary: put.data.summary, quick: quick.data.summary, bare, known };
  },

  async googleSpreadsheet({ url, token }) {
    const send = globalThis.fetch;
    const to = (address) => `${url}/${address.split("/").slice(3).join("/")}`;
    globalThis.fetch = (asked, options) =>
      send(asked instanceof Request ? new Request(to(asked.url), asked) : to(String(asked)), options);
    const { GoogleSpreadsheet } = await import("google-spreadsheet");
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const body = JSON.stringify({ properties: { title: "Points" } });
    const made = await (await send(`${url}/v4/spreadsheets`, { method: "POST", headers, body })).json();
    const book = new GoogleSpreadsheet(made.spreadsheetId, { token });
    await book.loadInfo();
    const page = await book.addSheet({ title: "Team", headerValues: ["name", "points"] });
    await page.addRows([{ name: "Ada", points: 3 }, { name: "Bob", points: 4 }]);
    const rows = await page.getRows();
    rows[0].set("points", 5);
    await rows[0].save();
    await page.loadCells("A1:B3");
    const cell = page.getCellByA1("B3");
    cell.value = 9;
    await page.saveUpdatedCells();
    await rows[0].delete();
    await book.updateProperties({ title: "New" });
    const left = (await page.getRows()).map((row) => [row.get("name"), row.get("points")]);
    return { title: book.title, sheets: book.sheetCount, left };
  },

  async fetch({ url, token, shop }) {
    const form = new FormData();
    form.set("assignment[name]", "By fetch");
    const headers = { Authorization: `Bearer ${token}` };
    const made = await fetch(`${url}/api/v1/courses/1/assignments`, { method: "POST", headers, body: form });
    const product = new FormData();
    product.set("name", "Stool");
    const basic = { Authorization: "Basic " + btoa(`${token}:${token}`) };
    const sold = await fetch(`${shop}/wp-json/wc/v3/products`, { method: "POST", headers: basic, body: product });
    return { assignment: (await made.json()).name, product: (await sold.json()).name };
  },

  async imapflow({ imap, token }) {
    const { ImapFlow } = await import("imapflow");
    const auth = { user: "me", pass: token };
    const client = new ImapFlow({ host: "127.0.0.1", port: imap, secure: false, auth, logger: false });
    await client.connect();
    const folders = (await client.list()).map((folder) => folder.path);
    const lock = await client.getMailboxLock("INBOX");
    const subjects = [];
    for await (const message of client.fetch("1:3", { envelope: true, source: true, flags: true })) {
      subjects.push(message.envelope.subject);
    }
    await client.messageFlagsAdd("1", ["\\Flagged"]);
    const found = await client.search({ flagged: true });
    lock.release();
    await client.logout();
    return { folders: folders.includes("INBOX"), subjects: subjects.length, flagged: found.includes(1) };
  },

  async imap({ imap, token }) {
    const Imap = (await import("imap")).default;
    const client = new Imap({ user: "me", password: token, host: "127.0.0.1", port: imap, tls: false });
    const subjects = await new Promise((resolve, reject) => {
      const found = [];
      client.once("error", reject);
      client.once("ready", () =>
        client.openBox("INBOX", true, (error) => {
          if (error) return reject(error);
          const fetching = client.seq.fetch("1:3", { bodies: "HEADER.FIELDS (FROM TO SUBJECT DATE)" });
          fetching.on("message", (message) =>
            message.on("body", (stream) => {
              let text = "";
              stream.on("data", (part) => (text += part));
              stream.once("end", () => found.push(...(Imap.parseHeader(text).subject ?? [])));
            }),
          );
          fetching.once("error", reject);
          fetching.once("end", () => client.end());
        }),
      );
      client.once("end", () => resolve(found));
      client.connect();
    });
    return { subjects: subjects.length };
  },

  async nodemailer({ smtp, token, address }) {
    const nodemailer = (await import("nodemailer")).default;
    const auth = { user: "me", pass: token };
    const sender = nodemailer.createTransport({ host: "127.0.0.1", port: smtp, secure: false, auth });
    const attachments = [{ filename: "größe.txt", content: "Grüße" }];
    const sent = await sender.sendMail({ from: address, to: address, subject: "Ünï", text: "Hello", attachments });
    return { accepted: sent.accepted };
  },
};

const [name, options] = process.argv.slice(2);
console.log(JSON.stringify(await clients[name](JSON.parse(options))));
