import { http } from '@svc/service-kit/builtin.ts';
import { listen } from './listen.ts';

export type RecordingProxy = {
  url: string;
  /** The requests, in order: addresses, or `host:port` of tunnels. */
  asked: string[];
  /** Everything that clients have sent, including headers. */
  heard(): string;
  close(): Promise<void>;
};

/** An HTTP proxy that forwards nothing and records its requests. */
export async function startRecordingProxy(): Promise<RecordingProxy> {
  const asked: string[] = [];
  const heard: string[] = [];
  const server = http.createServer((request, response) => {
    asked.push(request.url ?? '');
    heard.push(JSON.stringify(request.headers));
    response.writeHead(502).end();
  });
  server.on('connect', (request, socket) => {
    asked.push(request.url ?? '');
    heard.push(JSON.stringify(request.headers));
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  const { url, close } = await listen(server);
  return { url, asked, heard: () => heard.join('\n'), close };
}
