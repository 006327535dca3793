// Chooses the user that PostgreSQL runs as: it refuses root, which starts it as an unprivileged user.
import { spawnSync } from 'node:child_process';
import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { canPassClosedFolders, type SystemUser } from '../processes.ts';

const CANDIDATES = ['postgres', 'nobody', 'daemon'];

/**
 * Chooses the server's user; undefined when this process is not root, and the server runs as the same user.
 */
export function choosePostgresUser(folders: readonly string[], cluster: string): SystemUser | undefined {
  const owner = ownerOf(cluster);
  const ourUid = process.getuid?.();
  if (ourUid === undefined) return undefined;
  if (ourUid !== 0) {
    if (owner === undefined || owner.uid === ourUid) return undefined;
    throw new Error(
      `The database files in ${cluster} belong to another user (${owner.uid}): start as that user, or set SVC_DATA_DIR.`,
    );
  }
  const identity = owner !== undefined && owner.uid !== 0 ? owner : findSystemUser();
  const closed = folders
    .map((folder) => findClosedFolder(folder, identity))
    .find((path) => path !== undefined);
  if (closed === undefined) return { ...identity, passesClosedFolders: false };
  if (canPassClosedFolders(identity.uid, identity.gid)) return { ...identity, passesClosedFolders: true };
  throw new Error(
    `PostgreSQL must not run as root, and its user ${identity.name} may not enter ${closed}: start as an ordinary user, move the project to a folder that all may enter, or set DATABASE_URL.`,
  );
}

interface Identity {
  uid: number;
  gid: number;
  name: string;
}

function findSystemUser(): Identity {
  for (const name of CANDIDATES) {
    const uid = readId('-u', name);
    const gid = readId('-g', name);
    if (uid !== undefined && gid !== undefined && uid > 0) return { uid, gid, name };
  }
  throw new Error(
    `PostgreSQL must not run as root, and there is none of the users ${CANDIDATES.join(', ')}: start as an ordinary user, or set DATABASE_URL.`,
  );
}

function readId(flag: string, name: string): number | undefined {
  const result = spawnSync('id', [flag, name], { encoding: 'utf8' });
  const id = Number.parseInt(result.stdout ?? '', 10);
  return result.status === 0 && Number.isInteger(id) ? id : undefined;
}

function ownerOf(path: string): Identity | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? undefined : { uid: stat.uid, gid: stat.gid, name: String(stat.uid) };
}

/** Finds the outermost folder of the path that this user may not pass; undefined when all can be passed. */
function findClosedFolder(folder: string, identity: Identity): string | undefined {
  const path = realpathSync(folder);
  const parent = dirname(path);
  const above = parent === path ? undefined : findClosedFolder(parent, identity);
  if (above !== undefined) return above;
  const stat = statSync(path);
  const shift = stat.uid === identity.uid ? 6 : stat.gid === identity.gid ? 3 : 0;
  return ((stat.mode >> shift) & 1) === 1 ? undefined : path;
}
