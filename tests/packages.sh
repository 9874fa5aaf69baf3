# Sourced by examples/quickstart.sh and tests/run.sh: makes sure that Debian packages are there.
# As root, or with sudo that asks nothing, missing ones are installed; otherwise the command to do so is printed.

# need_packages NAME...
need_packages() {
  missing=""
  for package in "$@"; do
    state=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    case $state in
      *" installed") ;;
      *) missing="$missing $package" ;;
    esac
  done
  [ -n "$missing" ] || return 0
  if ! command -v apt-get >/dev/null 2>&1; then
    echo "needed, by Debian's names:$missing; install them with this system's package manager" >&2
    return 0
  fi
  if [ "$(id -u)" -eq 0 ]; then
    as_root=""
  elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root="sudo -n"
  else
    echo "missing packages; install them and start again:" >&2
    echo "  sudo apt-get install$missing" >&2
    exit 1
  fi
  echo "installing$missing" >&2
  $as_root apt-get update -qq >&2
  # shellcheck disable=SC2086
  DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing >&2
}
