/** `container`: set by this repository's container recipe, which does not know the program that runs it. */
const containers = ['container', 'podman', 'docker'];

/** How a person gets a newer version of an installation that another program updates, or must update. */
export function managedWords(manager: string): string {
  if (manager === 'archive')
    return 'This installation is an unpacked archive, and nothing says where newer ones are. Unpack a newer one next to it and start that: it uses the same data folder (docs/installing.md).';
  const begin = `This installation is kept up to date by ${manager === 'container' ? 'the operator of the container' : manager}.`;
  if (containers.includes(manager))
    return `${begin} Get the newer image (${manager === 'container' ? 'podman pull or docker pull' : `${manager} pull`}, or build it), and start a container of it in place of this one, with the same volume (docs/installing.md).`;
  return begin;
}
