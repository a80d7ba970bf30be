// A day's work of @google-cloud/bigquery and @google-cloud/storage: `node google_cloud.js CLIENT API TOKEN FOLDER`
// prints what each case gave, as one JSON document. A case that fails gives `{"failed": ...}`.
import fs from "node:fs";
import path from "node:path";
import { once } from "node:events";
import { BigQuery } from "@google-cloud/bigquery";
import { Storage } from "@google-cloud/storage";
import { OAuth2Client } from "google-auth-library";

const [client, apiEndpoint, token, folder] = process.argv.slice(2);
const authClient = new OAuth2Client();
authClient.setCredentials({ access_token: token });
const options = { projectId: "local-project", apiEndpoint, authClient };

const written = (name, text) => {
  const file = path.join(folder, name);
  fs.writeFileSync(file, text);
  return file;
};
const read = async (stream) => {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return parts;
};

function bigquery() {
  const bq = new BigQuery(options);
  const dataset = bq.dataset("shop");
  const table = dataset.table("js");
  const rows = async (query, more) => (await bq.query(typeof query === "string" ? { query, ...more } : query))[0];
  const state = ([job]) => job.status.state;
  const csv = { sourceFormat: "CSV", autodetect: true, skipLeadingRows: 1 };
  const lines = { sourceFormat: "NEWLINE_DELIMITED_JSON", autodetect: true };
  return {
    datasets: async () => (await bq.getDatasets())[0].map((one) => one.id),
    "create a table": async () => (await dataset.createTable("js", { schema: "id:integer, name:string, at:timestamp, n:numeric" }))[0].id,
    insert: async () => (await table.insert([{ id: 1, name: "a", at: BigQuery.timestamp("2025-01-01T00:00:00Z"), n: "1.5" }, { id: 2, name: null }]))[0].kind,
    "insert what does not fit": () => table.insert([{ id: "x" }]).then(() => "taken", (error) => error.name),
    query: () => rows("SELECT * FROM shop.js ORDER BY id"),
    "named parameters": () => rows("SELECT @a AS a, @b AS b, @c AS c, @s.x AS x", { params: { a: 1, b: "x", c: [1, 2], s: { x: 1.5 } } }),
    "parameters by place": () => rows("SELECT ? AS a, ? AS b", { params: [1, "x"] }),
    "a parameter that is null": () => rows("SELECT @a IS NULL AS a", { params: { a: null }, types: { a: "STRING" } }),
    "a date as parameter": () => rows("SELECT @d AS d", { params: { d: BigQuery.date("2025-01-02") } }),
    types: () => rows("SELECT [1, 2] AS a, STRUCT(1 AS x, [STRUCT('q' AS z)] AS y) AS s, DATE '2025-01-01' AS d, TIME '01:02:03' AS t, NUMERIC '1.5' AS n, TRUE AS f, NULL AS z"),
    "whole numbers beyond 2**53": async () => (await rows("SELECT 9007199254740993 AS a", { wrapIntegers: true }))[0].a.value,
    "a job": async () => {
      const [job] = await bq.createQueryJob({ query: "SELECT 1 AS a" });
      const [found] = await job.getQueryResults();
      return [found, job.metadata.status.state];
    },
    "a dry run": async () => Number((await bq.createQueryJob({ query: "SELECT * FROM shop.js", dryRun: true }))[0].metadata.statistics.totalBytesProcessed) > 0,
    "a destination": async () => {
      const [job] = await bq.createQueryJob({ query: "SELECT 1 AS a", destination: dataset.table("made"), writeDisposition: "WRITE_TRUNCATE" });
      await job.getQueryResults();
      return (await dataset.table("made").getRows())[0];
    },
    "a stream of rows": () => read(bq.createQueryStream("SELECT id FROM shop.js ORDER BY id")),
    "load CSV": async () => state(await dataset.table("csv").load(written("x.csv", "a,b\n1,x\n2,y\n"), csv)),
    "load JSON": async () => state(await dataset.table("json").load(written("x.json", '{"a":1,"b":"x"}\n'), lines)),
    "write to a stream": async () => {
      const stream = dataset.table("streamed").createWriteStream(lines);
      stream.end('{"a": 1}\n');
      const [job] = await once(stream, "complete");
      return job.metadata.status.state;
    },
    "rows page by page": async () => (await table.getRows({ maxResults: 1, autoPaginate: false }))[0].length,
    metadata: async () => (await table.getMetadata())[0].schema.fields.map((one) => one.type),
    "change a description": async () => (await table.setMetadata({ description: "x" }))[0].description,
    exists: async () => [(await table.exists())[0], (await dataset.table("no").exists())[0], (await bq.dataset("no").exists())[0]],
    copy: async () => state(await table.copy(dataset.table("copied"))),
    "create a view": async () => (await dataset.createTable("seen", { view: { query: "SELECT id FROM shop.js", useLegacySql: false } }))[0].id,
    "create and delete a dataset": async () => {
      const [made] = await bq.createDataset("more", { location: "US" });
      await made.delete({ force: true });
      return made.id;
    },
    jobs: async () => (await bq.getJobs({ maxResults: 2, autoPaginate: false }))[0].length,
    "what is wrong": () => rows("SELECT nope FROM shop.js").catch((error) => [error.code, error.message]),
    delete: async () => {
      await table.delete();
      return (await table.exists())[0];
    },
  };
}

function storage() {
  const store = new Storage(options);
  const bucket = store.bucket("js-bucket");
  const file = bucket.file("dir/a.txt");
  const big = Buffer.alloc(600_000, "x");
  return {
    "create a bucket": async () => (await store.createBucket("js-bucket", { location: "US" }))[0].name,
    buckets: async () => (await store.getBuckets())[0].map((one) => one.name),
    save: async () => (await file.save("hello"), (await file.download())[0].toString()),
    "save in one request": async () => {
      await bucket.file("b.txt").save("hello", { resumable: false, metadata: { contentType: "text/plain", metadata: { k: "v" } } });
      const [about] = await bucket.file("b.txt").getMetadata();
      return [about.contentType, about.metadata, about.size];
    },
    "save in pieces": async () => {
      await bucket.file("c.txt").save(big, { resumable: true, chunkSize: 262_144 });
      return (await bucket.file("c.txt").download())[0].equals(big);
    },
    upload: async () => (await bucket.upload(written("up.csv", "a,b\n"), { destination: "up/x.csv" }))[0].name,
    "a write stream": async () => {
      const stream = bucket.file("w.txt").createWriteStream();
      stream.end("abc");
      await once(stream, "finish");
      return (await bucket.file("w.txt").download())[0].toString();
    },
    "a read stream": async () => Buffer.concat(await read(file.createReadStream())).toString(),
    "some of the bytes": async () => (await file.download({ start: 1, end: 3 }))[0].toString(),
    "only if it is new": async () => {
      const must = { preconditionOpts: { ifGenerationMatch: 0 } };
      await bucket.file("once").save("1", must);
      return bucket.file("once").save("2", must).catch((error) => error.code);
    },
    exists: async () => [(await file.exists())[0], (await bucket.file("no").exists())[0], (await store.bucket("nobody").exists())[0]],
    "files by prefix": async () => (await bucket.getFiles({ prefix: "up/" }))[0].map((one) => one.name),
    folders: async () => (await bucket.getFiles({ delimiter: "/", autoPaginate: false }))[2].prefixes,
    "change metadata": async () => (await bucket.file("b.txt").setMetadata({ metadata: { k: "w" }, cacheControl: "no-cache" }))[0].cacheControl,
    copy: async () => (await file.copy(bucket.file("copy.txt")))[0].name,
    move: async () => (await bucket.file("copy.txt").move("moved.txt"))[0].name,
    combine: async () => {
      await bucket.combine(["b.txt", "w.txt"], "all.txt");
      return (await bucket.file("all.txt").download())[0].toString();
    },
    "save for all to read": async () => (await bucket.file("p.txt").save("x", { predefinedAcl: "publicRead" }), "saved"),
    labels: async () => (await bucket.setMetadata({ labels: { a: "b" } }))[0].labels,
    cors: async () => (await bucket.setCorsConfiguration([{ maxAgeSeconds: 3600, method: ["GET"], origin: ["*"] }]))[0].cors,
    lifecycle: async () => (await bucket.addLifecycleRule({ action: { type: "Delete" }, condition: { age: 30 } }))[0].lifecycle.rule.length,
    "an IAM policy": async () => {
      const [policy] = await bucket.iam.getPolicy();
      policy.bindings.push({ role: "roles/storage.objectViewer", members: ["allUsers"] });
      return (await bucket.iam.setPolicy(policy))[0].bindings.at(-1);
    },
    permissions: async () => (await bucket.iam.testPermissions(["storage.objects.get"]))[0],
    versioning: async () => (await bucket.setMetadata({ versioning: { enabled: true } }))[0].versioning,
    "what is not offered": () => file.makePublic().catch((error) => [error.code, error.message.slice(0, 80)]),
    "delete a file": async () => (await file.delete(), (await file.exists())[0]),
    "delete what is not there": () => bucket.file("no").delete().catch((error) => error.code),
    "delete the bucket": async () => {
      await bucket.setMetadata({ versioning: { enabled: false } });
      await bucket.deleteFiles({ force: true, versions: true });
      await bucket.delete();
      return (await bucket.exists())[0];
    },
  };
}

const told = {};
for (const [name, run] of Object.entries({ bigquery, storage }[client]())) {
  told[name] = await run().catch((error) => ({ failed: String(error.message).slice(0, 500) }));
}
console.log(JSON.stringify(told));
