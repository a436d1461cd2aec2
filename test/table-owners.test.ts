import path from 'node:path';
import { migrate } from '@svc/store/migrate.ts';
import { openSqlite } from '@svc/store/open-sqlite.ts';
import { expect, test } from 'vitest';
import { read, root, sourcesOf } from './repository.ts';

/** Where the tables of an app are created. */
const migrations: Record<string, string[]> = {
  core: ['migrations', 'login-migrations'],
  collector: ['migrations'],
  manager: ['migrations'],
  vault: ['migrations'],
};

/** Folders whose statements read a table of another one, and why calling a function is not enough. None writes it. */
const joins: [folder: string, table: string, why: string][] = [
  ['apps/core/src/delivery', 'turn', 'a reply takes over whether its turn is forgotten, in the one statement that it costs'],
  ['apps/core/src/spend', 'principal', 'names for sums; to read all principals for a few of them would grow with what is stored'],
  ['apps/core/src/turn', 'session', 'open turns are counted by the instance of their session, and not one after the other'],
  ['apps/collector/src/session', 'transcript', 'sessions of terminals are left out before the list is cut to its limit'],
  ['apps/collector/src/search', 'event', 'its thread has a connection of its own, which joins the index with the events'],
  ['apps/collector/src/search', 'session', 'and with their sessions'],
  ['apps/collector/src/search', 'fact', 'how far the index is behind is one statement, so that both sides are of one moment'],
];

/** Commands that open the files of an app directly, and why they do not ask its process. */
const byFile: [folder: string, why: string, ...tables: string[]][] = [
  [
    'apps/cli/src/auth',
    'who is locked out has nothing but the files, and the core need not run',
    'login_account',
    'login_session',
  ],
  [
    'apps/cli/src/update',
    'a version is tried on a copy of the data, in which nothing may be sent and the one who tries it is the owner',
    'instance',
    'held_announcement',
    'turn',
    'delivery',
    'engine_setting',
    'principal',
    'identifier',
    'trust_grant',
    'role',
  ],
];

type Use = { table: string; writes: boolean };
type Statement = Use & { file: string; folder: string };

const naming =
  /\b(INSERT(?: OR \w+)? INTO|REPLACE INTO|UPDATE(?: OR \w+)?|DELETE FROM|FROM|JOIN)\s+(stored\.)?"?(\w+)|\btable: '(\w+)'/g;

/** The tables that statements in a text name. Those that it creates are in a separate database; `stored` is the app's database. */
function usesIn(text: string): Use[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const own = new Set([...code.matchAll(/CREATE TABLE (\w+)/g)].map((match) => match[1]));
  return [...code.matchAll(naming)]
    .map(([, verb = 'FROM', schema, named, listed]) => ({ verb, schema, table: named ?? listed ?? '' }))
    .filter(({ schema, table }) => schema !== undefined || !own.has(table))
    .map(({ verb, table }) => ({ table, writes: !['FROM', 'JOIN'].includes(verb) }));
}

const selectTables = `SELECT name FROM sqlite_schema
  WHERE type = 'table' AND name <> 'schema_migration' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'`;

async function tablesOf(app: string): Promise<Set<string>> {
  const tables = new Set<string>();
  for (const folder of migrations[app] ?? []) {
    const db = openSqlite(':memory:');
    migrate(db, path.join(root, `apps/${app}/src/db/${folder}`));
    for (const row of db.raw.prepare(selectTables).all()) tables.add(String(row['name']));
    await db.close();
  }
  return tables;
}

const usesOf = (app: string): Statement[] =>
  sourcesOf(`apps/${app}/src`)
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => usesIn(read(file)).map((use) => ({ ...use, file, folder: file.split('/').slice(0, 4).join('/') })));

async function statementsOf(app: string): Promise<Statement[]> {
  const tables = await tablesOf(app);
  const statements = usesOf(app).filter(({ table }) => tables.has(table));
  const found = new Set(statements.map(({ table }) => table));
  expect([...tables].filter((table) => !found.has(table))).toEqual([]); // else statements are no longer understood
  return statements;
}

/** The folder with most of the statements that write a table; if only triggers write it, with most of those that read it. */
function ownerOf(statements: readonly Statement[]): string {
  const writes = statements.filter((statement) => statement.writes);
  const byFolder = Map.groupBy(writes.length > 0 ? writes : statements, ({ folder }) => folder);
  return [...byFolder].toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0] ?? '';
}

/** Statements outside the folder of their table. */
const strays = (statements: readonly Statement[]): (Statement & { owner: string })[] =>
  [...Map.groupBy(statements, ({ table }) => table).values()].flatMap((own) => {
    const owner = ownerOf(own);
    return own.filter(({ folder }) => folder !== owner).map((statement) => ({ ...statement, owner }));
  });

const isJoin = ({ folder, table, writes }: Statement) => !writes && joins.some(([of, name]) => of === folder && name === table);

test.each(Object.keys(migrations))(
  'the SQL of each table of the %s is in one folder, and others call its functions',
  async (app) => {
    const statements = await statementsOf(app);
    const wrong = strays(statements).filter((statement) => !isJoin(statement));
    expect(
      wrong.map(
        ({ file, writes, table, owner }) =>
          `${file} ${writes ? 'writes' : 'reads'} the table "${table}" of ${owner}: put the statement there, as a function with a name and docs` +
          (writes ? '' : '; or, where it has to be a join, say why in this test'),
      ),
    ).toEqual([]);
  },
);

test('every listed join exists', async () => {
  const all = (await Promise.all(Object.keys(migrations).map(statementsOf))).map(strays).flat();
  const found = new Set(all.map(({ folder, table }) => `${folder} ${table}`));
  expect(joins.map(([folder, table]) => `${folder} ${table}`).filter((join) => !found.has(join))).toEqual([]);
});

test('commands contain SQL only where no process can be asked', async () => {
  const tables = new Set((await Promise.all(Object.keys(migrations).map(tablesOf))).flatMap((names) => [...names]));
  const found = new Set(usesOf('cli').flatMap(({ folder, table }) => (tables.has(table) ? [`${folder} ${table}`] : [])));
  const said = byFile.flatMap(([folder, , ...names]) => names.map((name) => `${folder} ${name}`));
  expect([...found].toSorted()).toEqual(said.toSorted());
});

test('usesIn() finds statements and their verbs, and omits tables of a separate database', () => {
  const sql = [
    'INSERT INTO turn (id) SELECT id FROM session JOIN stored.event e',
    'INSERT OR IGNORE INTO fact VALUES (1) ON CONFLICT (name) DO UPDATE SET value = 1',
    'UPDATE session SET a = (SELECT 1 FROM turn_mark); DELETE FROM delivery',
  ];
  expect(usesIn(`const a = \`${sql.join('\n')}\`;\n// FROM spend\nconst list = { table: 'ask' };`)).toEqual([
    { table: 'turn', writes: true },
    { table: 'session', writes: false },
    { table: 'event', writes: false },
    { table: 'fact', writes: true },
    { table: 'SET', writes: true },
    { table: 'session', writes: true },
    { table: 'turn_mark', writes: false },
    { table: 'delivery', writes: true },
    { table: 'ask', writes: false },
  ]);
  expect(usesIn('CREATE TABLE session (a); SELECT a FROM session; SELECT a FROM stored.session')).toEqual([
    { table: 'session', writes: false },
  ]);
});
