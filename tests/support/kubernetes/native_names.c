/* The names of services, for programs that are not Python: see native_names.py. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int lookup(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static int is_service(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".svc") == 0;
}

int getaddrinfo(const char *name, const char *port, const struct addrinfo *hints,
                struct addrinfo **found)
{
    lookup *ask = (lookup *) dlsym(RTLD_NEXT, "getaddrinfo");
    const char *path = getenv("WAYPOST_TEST_HOSTS");
    char address[64], known[256];
    int is_known = 0;
    if (!name || !path || !is_service(name))
        return ask(name, port, hints, found);
    FILE *hosts = fopen(path, "r");
    while (hosts && !is_known && fscanf(hosts, "%63s %255s", address, known) == 2)
        is_known = strcmp(known, name) == 0;
    if (hosts)
        fclose(hosts);
    return is_known ? ask(address, port, hints, found) : EAI_NONAME;
}
