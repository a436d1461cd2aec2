import { http } from '@svc/service-kit/builtin.ts';

/** The limit for one hop on this machine: a plain reverse proxy, keep-alive on both sides, nothing parsed. */
const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });
const upstreamPort = process.env['UPSTREAM_PORT'] ?? '9100';

const server = http.createServer((request, response) => {
  const { method, url: path, headers } = request;
  const outgoing = http.request({ host: '127.0.0.1', port: upstreamPort, agent, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  outgoing.on('error', () => response.destroy());
  request.pipe(outgoing);
});
server.keepAliveTimeout = 60_000;
server.listen(Number(process.env['PORT'] ?? 9101), '127.0.0.1', 4096);
