import { createReadStream, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

/** Returns true when it has answered in place of the file. */
type Answer = (name: string, request: IncomingMessage, response: ServerResponse) => boolean;

/** A file server for releases on loopback HTTP, with ranges. */
export type ReleasePlace = {
  url: string;
  /** The requests: names, with the first requested byte. */
  asked: string[];
  /** Cuts a number of connections after a number of bytes. */
  cut(bytes: number, times: number): void;
  /** Called first for each request from now on; null: none. */
  answerWith(answer: Answer | null): void;
  close(): void;
};

export async function openReleasePlace(folder: () => string): Promise<ReleasePlace> {
  const asked: string[] = [];
  let [limit, left] = [0, 0];
  let instead: Answer | null = null;
  const server = createServer((request, response) => {
    const name = path.basename(request.url ?? '');
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    asked.push(`${name} ${from}`);
    if (instead?.(name, request, response) === true) return;
    const file = path.join(folder(), name);
    const size = statSync(file, { throwIfNoEntry: false })?.size;
    if (size === undefined) return void response.writeHead(404).end();
    if (from >= size && from > 0) return void response.writeHead(416).end();
    response.writeHead(from > 0 ? 206 : 200, { 'content-length': size - from });
    if (left === 0 || size - from <= limit) return void createReadStream(file, { start: from }).pipe(response);
    left -= 1;
    createReadStream(file, { start: from, end: from + limit - 1 })
      .on('end', () => void response.write('', () => void response.destroy()))
      .pipe(response, { end: false });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    cut: (bytes, times) => void ([limit, left] = [bytes, times]),
    answerWith: (answer) => void (instead = answer),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
