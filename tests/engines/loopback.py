"""Run a command in a network of its own, in which there is nothing but loopback: python loopback.py COMMAND...

Engines listen on ports; so nobody else can reach them, nor do they meet those of another run. Where no such network can
be made, the command runs as it is, after a line that says so.
"""

import fcntl
import os
import socket
import struct
import subprocess
import sys

SIOCSIFFLAGS, UP = 0x8914, 0x1 | 0x40
HERE = os.path.abspath(__file__)


def interfaces() -> set[str]:
    return {name for _, name in socket.if_nameindex()}


def switch_loopback_on() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", UP))


def main(command: list[str]) -> None:
    if command[0] == "--inside":
        switch_loopback_on()
        command = command[1:]
    else:
        for unshare in (["unshare", "-n"], ["unshare", "-rn"]):
            if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode == 0:
                command = [*unshare, sys.executable, HERE, "--inside", *command]
                break
        else:
            print("no network of its own can be made here (unshare -n): the engines use the machine's", flush=True)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
