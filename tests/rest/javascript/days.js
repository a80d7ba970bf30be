// Whole days of work of JavaScript clients, each a list of cases in order: `node days.js CLIENT '{"url": ...}'` prints
// how many passed, and what the others said.

const days = {
  async calendar({ url, token }, T) {
    const { google } = await import("googleapis");
    const auth = new google.auth.OAuth2();
    auth.setCredentials({ access_token: token });
    const cal = google.calendar({ version: "v3", auth });
    const here = { rootUrl: `${url}/` };
    const p = { calendarId: "primary" };
    const body = (s, d = "2031-03-03") => ({ summary: s, start: { dateTime: `${d}T09:00:00Z` }, end: { dateTime: `${d}T10:00:00Z` } });
    let e, e2, rec, cid, acl, sync;
    T("calendarList.list", async () => (await cal.calendarList.list({ maxResults: 50, showHidden: true, minAccessRole: "reader", showDeleted: false }, here)).data.items.length);
    T("calendarList.get", async () => (await cal.calendarList.get(p, here)).data.id);
    T("calendarList.update", async () => (await cal.calendarList.update({ ...p, requestBody: (await cal.calendarList.get(p, here)).data }, here)).data.id);
    T("calendars.get", async () => (await cal.calendars.get(p, here)).data.timeZone);
    T("calendars.insert", async () => (cid = (await cal.calendars.insert({ requestBody: { summary: "JS", timeZone: "Europe/Berlin", description: "d", location: "x" } }, here)).data.id));
    T("calendars.patch", async () => (await cal.calendars.patch({ calendarId: cid, requestBody: { summary: "JS2" } }, here)).data.summary);
    T("calendars.update", async () => (await cal.calendars.update({ calendarId: cid, requestBody: { summary: "JS3", timeZone: "Europe/Paris" } }, here)).data.summary);
    T("colors.get", async () => Object.keys((await cal.colors.get({}, here)).data.event).length);
    T("settings.list", async () => (await cal.settings.list({ maxResults: 100 }, here)).data.items.length);
    T("settings.get", async () => (await cal.settings.get({ setting: "timezone" }, here)).data.value);
    T("acl.list", async () => (await cal.acl.list({ calendarId: cid, showDeleted: false }, here)).data.items.length);
    T("acl.insert", async () => (acl = (await cal.acl.insert({ calendarId: cid, sendNotifications: false, requestBody: { role: "reader", scope: { type: "user", value: "bob@example.org" } } }, here)).data.id));
    T("acl.get", async () => (await cal.acl.get({ calendarId: cid, ruleId: acl }, here)).data.role);
    T("acl.patch", async () => (await cal.acl.patch({ calendarId: cid, ruleId: acl, requestBody: { role: "writer" } }, here)).data.role);
    T("acl.delete", async () => (await cal.acl.delete({ calendarId: cid, ruleId: acl }, here)).status);
    T("events.list", async () => (await cal.events.list({ ...p, maxResults: 10, singleEvents: true, orderBy: "startTime", timeMin: "2020-01-01T00:00:00Z", timeMax: "2040-01-01T00:00:00Z", timeZone: "UTC", alwaysIncludeEmail: true, maxAttendees: 5, showHiddenInvitations: false, showDeleted: false }, here)).data.items.length);
    T("events.list q", async () => (await cal.events.list({ ...p, q: "a", updatedMin: "2020-01-01T00:00:00Z" }, here)).data.items.length);
    T("events.list types", async () => (await cal.events.list({ ...p, eventTypes: ["default", "focusTime"] }, here)).data.items.length);
    T("events.list iCalUID", async () => (await cal.events.list({ ...p, iCalUID: "x@google.com" }, here)).data.items.length);
    T("events.list private", async () => (await cal.events.list({ ...p, privateExtendedProperty: "a=b", sharedExtendedProperty: ["c=d"] }, here)).data.items.length);
    T("events.list fields", async () => (await cal.events.list({ ...p, fields: "items(id,summary,start),nextPageToken,nextSyncToken", prettyPrint: false }, here)).data.items.length);
    T("events.list pages", async () => { let t, n = 0; do { const r = await cal.events.list({ ...p, maxResults: 2, pageToken: t }, here); n += r.data.items.length; t = r.data.nextPageToken; sync = r.data.nextSyncToken; } while (t); return n; });
    T("events.list sync", async () => (await cal.events.list({ ...p, syncToken: sync }, here)).data.items.length);
    T("events.insert", async () => (e = (await cal.events.insert({ ...p, sendUpdates: "all", sendNotifications: true, conferenceDataVersion: 1, supportsAttachments: true, maxAttendees: 9, requestBody: { ...body("JS"), description: "d", location: "l", attendees: [{ email: "bob@example.org", optional: true, responseStatus: "needsAction" }], reminders: { useDefault: false, overrides: [{ method: "popup", minutes: 10 }] }, colorId: "5", transparency: "opaque", visibility: "private", guestsCanModify: false, guestsCanInviteOthers: true, guestsCanSeeOtherGuests: true, extendedProperties: { private: { a: "b" }, shared: { c: "d" } },  } }, here)).data).id);
    T("events.insert allday", async () => (e2 = (await cal.events.insert({ ...p, requestBody: { summary: "All day", start: { date: "2031-04-01" }, end: { date: "2031-04-02" } } }, here)).data).id);
    T("events.insert recurring", async () => (rec = (await cal.events.insert({ ...p, requestBody: { ...body("Rec", "2031-05-05"), start: { dateTime: "2031-05-05T09:00:00", timeZone: "Europe/Berlin" }, end: { dateTime: "2031-05-05T10:00:00", timeZone: "Europe/Berlin" }, recurrence: ["RRULE:FREQ=WEEKLY;COUNT=4"] } }, here)).data).id);
    T("events.insert own id", async () => (await cal.events.insert({ ...p, requestBody: { ...body("Own"), id: "abcdef12345" } }, here)).data.id);
    T("events.get", async () => (await cal.events.get({ ...p, eventId: e.id, timeZone: "UTC", maxAttendees: 1, alwaysIncludeEmail: true }, here)).data.summary);
    T("events.patch", async () => (await cal.events.patch({ ...p, eventId: e.id, sendUpdates: "none", requestBody: { summary: "P", colorId: "7" } }, here)).data.summary);
    T("events.update", async () => (await cal.events.update({ ...p, eventId: e.id, requestBody: (await cal.events.get({ ...p, eventId: e.id }, here)).data }, here)).data.summary);
    T("events.instances", async () => (await cal.events.instances({ ...p, eventId: rec.id, maxResults: 10, timeMin: "2031-01-01T00:00:00Z", showDeleted: false }, here)).data.items.length);
    T("events.instance patch", async () => { const i = (await cal.events.instances({ ...p, eventId: rec.id }, here)).data.items[1]; return (await cal.events.patch({ ...p, eventId: i.id, requestBody: { summary: "One" } }, here)).data.recurringEventId; });
    T("events.instance delete", async () => { const i = (await cal.events.instances({ ...p, eventId: rec.id }, here)).data.items[2]; return (await cal.events.delete({ ...p, eventId: i.id, sendUpdates: "all" }, here)).status; });
    T("events.move", async () => (await cal.events.move({ ...p, eventId: e2.id, destination: cid, sendUpdates: "none" }, here)).data.id);
    T("events.quickAdd", async () => (await cal.events.quickAdd({ ...p, text: "Lunch tomorrow 12-1pm", sendUpdates: "all" }, here)).data.summary);
    T("events.import", async () => (await cal.events.import({ ...p, conferenceDataVersion: 0, requestBody: { ...body("I"), iCalUID: "abcde12345@google.com" } }, here)).data.id);
    T("events.delete", async () => (await cal.events.delete({ ...p, eventId: e.id, sendNotifications: true }, here)).status);
    T("freebusy", async () => (await cal.freebusy.query({ requestBody: { timeMin: "2031-01-01T00:00:00Z", timeMax: "2031-02-20T00:00:00Z", timeZone: "UTC", groupExpansionMax: 10, calendarExpansionMax: 5, items: [{ id: "primary" }, { id: cid }] } }, here)).data.calendars.primary.busy.length);
    T("if-match", async () => (await cal.events.patch({ ...p, eventId: rec.id, requestBody: { summary: "Etag" } }, { ...here, headers: { "If-Match": (await cal.events.get({ ...p, eventId: rec.id }, here)).data.etag } })).data.summary);
    T("404", async () => { try { await cal.events.get({ ...p, eventId: "nope" }, here); return "no"; } catch (x) { if (x.code != 404 || x.response.data.error.errors[0].reason != "notFound") throw x; return 404; } });
    T("calendarList.insert", async () => (await cal.calendarList.insert({ requestBody: { id: cid } }, here)).data.id);
    T("calendars.clear", async () => (await cal.calendars.clear({ calendarId: "primary" }, here)).status);
    T("calendars.delete", async () => (await cal.calendars.delete({ calendarId: cid }, here)).status);
  },

  async googleSpreadsheet({ url, token }, T) {
    const send = globalThis.fetch;
    const to = (address) => `${url}/${address.split("/").slice(3).join("/")}`;
    globalThis.fetch = (asked, options) =>
      send(asked instanceof Request ? new Request(to(asked.url), asked) : to(String(asked)), options);
    const { GoogleSpreadsheet } = await import("google-spreadsheet");
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const auth = { token };
    let doc, s, rows, c2;
    T("create", async () => { const made = await (await send(`${url}/v4/spreadsheets`, { method: "POST", headers, body: JSON.stringify({ properties: { title: "Points" } }) })).json(); doc = new GoogleSpreadsheet(made.spreadsheetId, auth); });
    T("loadInfo", async () => { await doc.loadInfo(); return [doc.title, doc.locale, doc.timeZone, doc.defaultFormat, doc.sheetCount]; });
    T("loadInfo cells", async () => { await doc.loadInfo({ includeCells: true }); });
    T("updateProperties", async () => { await doc.updateProperties({ title: "New", timeZone: "Europe/Berlin", locale: "en_US" }); return doc.title; });
    T("addSheet", async () => { s = await doc.addSheet({ title: "Team", headerValues: ["name", "points", "note"], gridProperties: { rowCount: 50, columnCount: 8 }, tabColor: { red: 1 } }); });
    T("sheet.updateProperties", async () => s.updateProperties({ title: "Team2", index: 0 }));
    T("resize", async () => s.resize({ rowCount: 60, columnCount: 10 }));
    T("gridProps", async () => s.updateGridProperties({ frozenRowCount: 1 }));
    T("dimension", async () => s.updateDimensionProperties("COLUMNS", { pixelSize: 200 }, { startIndex: 0, endIndex: 2 }));
    T("addRow", async () => (await s.addRow({ name: "Ada", points: 3 })).rowNumber);
    T("addRows", async () => s.addRows([["Bob", 4, "x"], { name: "Cy", points: "=B2*2" }], { raw: false, insert: true }).then((added) => added.length));
    T("getRows", async () => { rows = await s.getRows({ limit: 10, offset: 0 }); return rows.map((r) => r.toObject()); });
    T("row.save", async () => { rows[0].assign({ points: 9 }); await rows[0].save({ raw: true }); });
    T("row.delete", async () => rows[1].delete());
    T("headerRow", async () => { await s.loadHeaderRow(); return s.headerValues; });
    T("setHeaderRow", async () => s.setHeaderRow(["name", "points", "more"]));
    T("loadCells", async () => { await s.loadCells("A1:D6"); const c = s.getCell(1, 1); return [c.value, c.formattedValue, c.valueType, s.cellStats]; });
    T("loadCells many", async () => s.loadCells(["A1:B2", { startRowIndex: 0, endRowIndex: 3, startColumnIndex: 0, endColumnIndex: 2 }]));
    T("cell save", async () => { const c = s.getCellByA1("D4"); c.value = 5; const f = s.getCellByA1("D5"); f.formula = "=D4*2"; await s.saveUpdatedCells(); return f.value; });
    T("cell format", async () => { const c = s.getCellByA1("D4"); c.numberFormat = { type: "NUMBER", pattern: "0.00" }; c.textFormat = { bold: true, fontSize: 12 }; c.backgroundColor = { red: 1, green: 1, blue: 0 }; c.horizontalAlignment = "CENTER"; c.borders = { top: { style: "SOLID" } }; await c.save(); return c.formattedValue; });
    T("cell note", async () => { const c = s.getCellByA1("D4"); c.note = "hm"; await c.save(); return c.note; });
    T("clearFormat", async () => { const c = s.getCellByA1("D4"); c.clearAllFormatting(); await c.save(); });
    T("formulaError", async () => { const c = s.getCellByA1("D6"); c.formula = "=1/0"; await c.save(); return c.errorValue?.type; });
    T("mergeCells", async () => s.mergeCells({ startRowIndex: 7, endRowIndex: 8, startColumnIndex: 0, endColumnIndex: 2 }, "MERGE_ALL"));
    T("unmergeCells", async () => s.unmergeCells({ startRowIndex: 7, endRowIndex: 8, startColumnIndex: 0, endColumnIndex: 2 }));
    T("insertDimension", async () => s.insertDimension("ROWS", { startIndex: 3, endIndex: 4 }, false));
    T("deleteDimension", async () => s.deleteDimension("ROWS", { startIndex: 3, endIndex: 4 }));
    T("getCellsInRange", async () => s.getCellsInRange("A1:B2"));
    T("copyTo", async () => s.copyToSpreadsheet(doc.spreadsheetId));
    T("duplicate", async () => { c2 = await s.duplicate({ title: "Dup" }); return c2.title; });
    T("clear range", async () => s.clear("A5:B6"));
    T("clearRows", async () => s.clearRows());
    T("csv", async () => (await s.downloadAsCSV()).byteLength);
    T("xlsx", async () => (await doc.downloadAsXLSX()).byteLength);
    T("named", async () => doc.addNamedRange("Names", { sheetId: s.sheetId, startRowIndex: 0, endRowIndex: 2, startColumnIndex: 0, endColumnIndex: 1 }, "n1"));
    T("deleteNamed", async () => doc.deleteNamedRange("n1"));
    T("sheet.delete", async () => c2.delete());
    T("doc.sheetsByTitle", async () => { await doc.loadInfo(); return Object.keys(doc.sheetsByTitle); });
    T("share list", async () => doc.listPermissions());
    T("share", async () => doc.share("bob@example.org", { role: "writer", emailMessage: false }));
    T("public", async () => doc.setPublicAccessLevel("reader"));
    T("createNew", async () => (await GoogleSpreadsheet.createNewSpreadsheetDocument(auth, { title: "Fresh" })).title);
    T("doc.delete", async () => doc.delete());
  },
};

const [name, options] = process.argv.slice(2);
const cases = [];
await days[name](JSON.parse(options), (title, run) => cases.push([title, run]));
const failed = {};
for (const [title, run] of cases) {
  await run().catch((error) => (failed[title] = String(error.message ?? error)));
}
console.log(JSON.stringify({ cases: cases.length, failed }));
