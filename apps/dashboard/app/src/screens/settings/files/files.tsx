import { Silos } from './silos.tsx';
import { Uploads } from './uploads.tsx';

/** Uploads and silos. */
export function Files() {
  return (
    <>
      <Uploads />
      <Silos />
    </>
  );
}
