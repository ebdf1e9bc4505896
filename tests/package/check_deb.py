# SPDX-License-Identifier: MIT
"""The .deb that cpack makes: what is in it, what it depends on, and that a client builds against its contents, unpacked somewhere.
"""
import glob
import os
import shutil
import sys

import prefix as installed
from prefix import check, run


def main():
    options = installed.options()
    for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps"):
        if not shutil.which(tool):
            print(f"[SKIP] no {tool} (Debian: cmake, dpkg-dev)")
            sys.exit(77)
    with installed.folder() as folder:
        run("cpack", "--config", options.build + "/CPackConfig.cmake", "-B", folder)
        made = glob.glob(folder + "/*.deb")
        check(len(made) == 1, f"cpack made {made}")
        fields = run("dpkg-deb", "-f", made[0])
        check("Package: tilegym\n" in fields and "Version: 0.1.0" in fields and "libc6" in fields,
              f"the package says of itself:\n{fields}")
        root = folder + "/root"
        run("dpkg-deb", "-x", made[0], root)
        prefix = root + "/usr"
        for path in ("bin/tilegymc", "include/tilegym/tilegym.h", "share/tilegym/specs/softmax.tile"):
            check(os.path.exists(f"{prefix}/{path}"), f"the package has no {path}")
        client = folder + "/client"
        shutil.copytree(os.path.join(os.path.dirname(os.path.abspath(__file__)), "client"), client)
        installed.configure(options, client, client + "/build", prefix)
        run(options.cmake, "--build", client + "/build")
        print(run(client + "/build/client"))
    print("package: the .deb was made, unpacked and used")


main()
