import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A connection between the browser and the dashboard that a test can break. */
export type BadLine = {
  url: string;
  /** Called with each chunk from the dashboard, after it was forwarded: true cuts its connection. */
  breaksAfter: (text: string) => boolean;
  /** Silently stops forwarding data. Connections that have lost some end when the line works again, as those of a real one do. */
  isMute: boolean;
  close(): void;
};

export async function openBadLine(target: string): Promise<BadLine> {
  const { port } = new URL(target);
  const clients = new Set<Socket>();
  const broken = new Set<Socket>();
  let isMute = false;
  const server = createServer((client) => {
    const service = connect(Number(port), 'localhost');
    clients.add(client);
    const end = () => {
      clients.delete(client);
      broken.delete(client);
      client.destroy();
      service.destroy();
    };
    for (const socket of [client, service]) socket.on('error', end).on('close', end);
    client.pipe(service);
    service.on('data', (bytes) => {
      if (isMute) return void broken.add(client);
      client.write(bytes, () => line.breaksAfter(bytes.toString('latin1')) && end());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const line: BadLine = {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    breaksAfter: () => false,
    get isMute() {
      return isMute;
    },
    set isMute(is) {
      isMute = is;
      if (!is) for (const client of broken) client.destroy();
    },
    close() {
      for (const client of clients) client.destroy();
      server.close();
    },
  };
  return line;
}
