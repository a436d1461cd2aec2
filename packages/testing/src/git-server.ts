import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { temporaryFolder } from './temporary-folder.ts';

/** A repository of a `GitServer`, with its owner's working tree. */
export type ServedRepository = {
  url: string;
  /** Its working tree. */
  folder: string;
  /** Runs git in the working tree and returns its output. `input`: its standard input. */
  git(args: readonly string[], input?: string | Buffer): string;
  /** Commits these files of the folder, by default all; returns the commit. */
  commit(names?: readonly string[]): string;
};

type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

/** A real git server over HTTP on loopback (`git http-backend`). */
export type GitServer = {
  port: number;
  url: string;
  repository(name: string): ServedRepository;
  /** Requires this user and password from now on; null: none. */
  lock(pair: string | null): void;
  /** Answers in place of git; null: git again. A handler that returns a promise only delays git until it settles. */
  answerWith(answer: Answer | null): void;
  close(): Promise<void>;
};

const user = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' };
const base = { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', ...user };

export async function startGitServer(): Promise<GitServer> {
  const folder = temporaryFolder();
  let pair: string | null = null;
  let instead: Answer | null = null;
  const server = createServer((request, response) => {
    const held = instead?.(request, response);
    if (instead !== null) return void held?.then(() => runBackend(folder.path, request, response));
    const wanted = pair === null ? null : `Basic ${Buffer.from(pair).toString('base64')}`;
    if (wanted === null || request.headers.authorization === wanted) return runBackend(folder.path, request, response);
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    port,
    url,
    repository(name) {
      const tree = path.join(folder.path, name);
      mkdirSync(tree);
      const git = (args: readonly string[], input: string | Buffer = '') =>
        execFileSync('git', args, { cwd: tree, env: base, input, encoding: 'utf8', maxBuffer: 2 ** 26 }).trim();
      git(['init', '--quiet', '--initial-branch=main']);
      return {
        url: `${url}/${name}/.git`,
        folder: tree,
        git,
        commit(names) {
          git(['add', '--force', ...(names === undefined ? ['--all'] : ['--', ...names])]);
          git(['commit', '--quiet', '--allow-empty', '-m', 'a change']);
          return git(['rev-parse', 'HEAD']);
        },
      };
    },
    lock: (wanted) => void (pair = wanted),
    answerWith: (answer) => void (instead = answer),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      folder.remove();
    },
  };
}

/** Runs git as a web server does (CGI). */
function runBackend(root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const { headers } = request;
  const child = spawn('git', ['http-backend'], {
    env: {
      ...base,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: headers['content-type'],
      HTTP_CONTENT_ENCODING: headers['content-encoding'],
      GIT_PROTOCOL: headers['git-protocol']?.toString(),
    },
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => undefined); // it ended before it had read all
  let head = Buffer.alloc(0);
  child.stdout.on('data', (chunk: Buffer) => {
    if (response.headersSent) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) return;
    const fields = head.subarray(0, end).toString().split('\r\n');
    const pairs = fields.map((field) => field.split(': ', 2) as [string, string]);
    const status = Number(pairs.find(([name]) => name === 'Status')?.[1].slice(0, 3) ?? 200);
    response.writeHead(status, Object.fromEntries(pairs.filter(([name]) => name !== 'Status')));
    response.write(head.subarray(end + 4));
  });
  child.on('close', () => response.end());
  response.on('close', () => child.kill('SIGKILL'));
}
