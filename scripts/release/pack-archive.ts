import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

type Packing = {
  /** The folder to pack; its base name is the name of the folder in the archive. */
  folder: string;
  file: string;
  /** The modification time of every file, in seconds since 1970. */
  time: number;
  /** Compression level of gzip, 0 (none) to 9. */
  level: number;
};

/** Packs a folder reproducibly: sorted, with one time and one owner for all files. Needs GNU tar. */
export async function packArchive({ folder, file, time, level }: Packing): Promise<void> {
  const tar = spawn(
    'tar',
    [
      '--create',
      '--format=posix',
      '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime',
      '--sort=name',
      `--mtime=@${time}`,
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--mode=u+rwX,go=rX',
      '--hard-dereference',
      `--directory=${path.dirname(folder)}`,
      path.basename(folder),
    ],
    { env: { PATH: process.env['PATH'], LC_ALL: 'C' }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = once(tar, 'close');
  await pipeline(tar.stdout, createGzip({ level }), createWriteStream(file));
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`tar exited with code ${code}.`);
}
