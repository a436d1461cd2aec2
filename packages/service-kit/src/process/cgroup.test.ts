import { expect, test } from 'vitest';
import { ownDir } from './cgroup.ts';

const mount = (root: string, point: string, type = 'cgroup2') =>
  `29 23 0:26 / /sys/fs rw,nosuid - sysfs sysfs rw\n35 25 0:30 ${root} ${point} rw,relatime shared:9 - ${type} cgroup2 rw,nsdelegate`;

test.each([
  ['0::/user.slice/app.slice/svc.service\n', mount('/', '/sys/fs/cgroup'), '/sys/fs/cgroup/user.slice/app.slice/svc.service'],
  ['0::/\n', mount('/', '/sys/fs/cgroup'), '/sys/fs/cgroup'],
  ['4:memory:/a\n0::/b\n', mount('/', '/sys/fs/cgroup/unified'), '/sys/fs/cgroup/unified/b'],
  ['0::/docker/1/x\n', mount('/docker/1', '/sys/fs/cgroup'), '/sys/fs/cgroup/x'],
])('ownDir() resolves the group of %j to its mount', (cgroup, mountinfo, dir) => {
  expect(ownDir(cgroup, mountinfo)).toBe(dir);
});

test.each([
  ['a system with groups of version 1 alone', '4:memory:/a\n', mount('/', '/sys/fs/cgroup', 'cgroup')],
  ['a mount that shows another part of the tree', '0::/docker/2\n', mount('/docker/1', '/sys/fs/cgroup')],
  ['a group that lies outside of the namespace', '0::/../other\n', mount('/', '/sys/fs/cgroup')],
  ['a system without any', '', ''],
])('ownDir() is null for %s', (_name, cgroup, mountinfo) => {
  expect(ownDir(cgroup, mountinfo)).toBeNull();
});
