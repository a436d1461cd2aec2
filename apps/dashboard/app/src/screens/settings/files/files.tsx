import { Silos } from './silos.tsx';
import { Uploads } from './uploads.tsx';

/** Files that came, and private stores. */
export function Files() {
  return (
    <>
      <Uploads />
      <Silos />
    </>
  );
}
