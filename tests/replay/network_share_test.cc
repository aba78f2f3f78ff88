#include "replay/volumes/network_share.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/replay/sysfs_tree.h"

namespace filereel {
namespace {

// Lines of mountinfo with the options of the kernel and the programs named; hosts and accounts are
// made up.
const std::string kNfs4 =
    R"(612 28 0:58 / /mnt/nas rw,relatime shared:320 - nfs4 nas.example.org:/volume1/data )"
    R"(rw,vers=4.2,rsize=262144,wsize=262144,namlen=255,hard,proto=tcp,nconnect=4,timeo=600,)"
    R"(retrans=2,sec=sys,clientaddr=192.168.7.21,local_lock=none,addr=192.168.7.9)";
const std::string kNfs3 =
    R"(613 28 0:59 / /mnt/old rw,noatime shared:321 - nfs 10.1.2.3:/export/home )"
    R"(rw,vers=3,rsize=1048576,wsize=1048576,namlen=255,acregmin=0,acregmax=0,hard,proto=rdma,)"
    R"(port=20049,timeo=600,retrans=2,sec=sys,mountaddr=10.1.2.3,mountvers=3,mountport=892,)"
    R"(mountproto=tcp,local_lock=none,addr=10.1.2.3)";
const std::string kNfsV6 =
    R"(614 28 0:60 / /mnt/six rw - nfs4 [fd00:7::9]:/data rw,vers=4.1,proto=tcp6,)"
    R"(clientaddr=fd00:7::21,addr=fd00:7::9)";
const std::string kSmb =
    R"(615 28 0:61 / /mnt/my\040nas rw,relatime shared:322 - cifs //fileserver/docs\0402 )"
    R"(rw,vers=3.1.1,sec=ntlmssp,cache=strict,username=ben,domain=OFFICE,uid=1000,forceuid,gid=0,)"
    R"(noforcegid,addr=192.168.7.10,file_mode=0755,dir_mode=0755,soft,nounix,serverino,mapposix,)"
    R"(rsize=4194304,wsize=4194304,bsize=1048576,echo_interval=60,actimeo=1,closetimeo=1)";
const std::string kSmbDirect =
    R"(616 28 0:62 / /mnt/fast rw - smb3 //10.1.2.4/fast rw,vers=3.0,cache=none,rdma,addr=10.1.2.4)";
const std::string kLustre =
    R"(617 28 0:63 / /lustre rw,relatime shared:9 - lustre 10.149.200.5@o2ib:10.149.200.4@o2ib:)"
    R"(/snx11/project rw,checksum,flock,nouser_xattr,lruresize,lazystatfs,nouser_fid2path,verbose)";
const std::string kCeph =
    R"(618 28 0:64 / /ceph rw,noatime - ceph services@b3acfc0d-575f-41d3-9c91-0e7ed3dbb3fa.cephfs)"
    R"(=/volumes/a rw,name=services,secret=<hidden>,ms_mode=prefer-crc,mount_timeout=300,acl,)"
    R"(mon_addr=[fd00:7::5]:3300/10.1.2.6:3300,recover_session=clean)";
const std::string kOldCeph =
    R"(619 28 0:65 / /mnt/cephfs rw,relatime - ceph 10.132.4.63:6789,10.132.4.64:6789:/ )"
    R"(rw,name=admin,secret=<hidden>,acl,mds_namespace=cephfs)";
const std::string k9p =
    R"(620 28 0:66 / /mnt/host rw,relatime - 9p hostshare rw,sync,dirsync,access=client,)"
    R"(msize=512000,trans=virtio,version=9p2000.L)";
const std::string k9pTcp =
    R"(621 28 0:67 / /mnt/plan9 rw - 9p 10.1.2.7 rw,trans=tcp,port=564,version=9p2000.L)";
const std::string kSshfs =
    R"(622 28 0:68 / /home/ben/my\040nas rw,nosuid,nodev,relatime shared:30 - fuse.sshfs )"
    R"(ben@nas:/srv rw,user_id=1000,group_id=1000,allow_other)";
const std::string kGluster =
    R"(623 28 0:69 / /gluster rw - fuse.glusterfs gl1:/vol rw,user_id=0,group_id=0,)"
    R"(default_permissions,allow_other,max_read=131072)";

NetworkShare share_of(const std::string& line) {
  const auto mounted = parse_mount(line);
  REQUIRE(mounted);
  const auto share = network_share(*mounted);
  REQUIRE(share);
  return *share;
}

bool is_local(const std::string& type, const std::string& source) {
  const auto mounted =
      parse_mount("9 1 0:50 / /mnt rw - " + type + " " + source + " rw,user_id=0,group_id=0");
  REQUIRE(mounted);
  return !network_share(*mounted);
}

NetworkShare share_from(const std::string& type, const std::string& source) {
  return share_of("9 1 0:50 / /mnt rw - " + type + " " + source + " rw");
}

using Layers = std::vector<std::string>;

TEST_CASE("NFS mounts name version, transport, export and address") {
  CHECK(share_of(kNfs4) == NetworkShare{"nfs 4.2", "tcp", "nas.example.org:/volume1/data",
                                        "nas.example.org", "192.168.7.9", ""});
  CHECK(share_of(kNfs3) ==
        NetworkShare{"nfs 3", "rdma", "10.1.2.3:/export/home", "10.1.2.3", "10.1.2.3", ""});
  CHECK(share_of(kNfsV6) ==
        NetworkShare{"nfs 4.1", "tcp6", "[fd00:7::9]:/data", "fd00:7::9", "fd00:7::9", ""});
  CHECK(share_layers(share_of(kNfs4)) == Layers{"nfs 4.2 over tcp"});
}

TEST_CASE("SMB mounts name version, share and address") {
  CHECK(share_of(kSmb) ==
        NetworkShare{"smb 3.1.1", "", "//fileserver/docs 2", "fileserver", "192.168.7.10", ""});
  CHECK(share_layers(share_of(kSmb)) == Layers{"smb 3.1.1"});
  CHECK(share_of(kSmbDirect) ==
        NetworkShare{"smb 3.0", "rdma", "//10.1.2.4/fast", "10.1.2.4", "10.1.2.4", ""});
}

TEST_CASE("the first address of a cluster counts") {
  CHECK(share_of(kLustre) == NetworkShare{"lustre", "o2ib",
                                          "10.149.200.5@o2ib:10.149.200.4@o2ib:/snx11/project",
                                          "10.149.200.5", "10.149.200.5", ""});
  CHECK(share_of(kCeph) == NetworkShare{"cephfs", "",
                                        "b3acfc0d-575f-41d3-9c91-0e7ed3dbb3fa.cephfs=/volumes/a",
                                        "", "fd00:7::5", ""});
  CHECK(share_of(kOldCeph) == NetworkShare{"cephfs", "", "10.132.4.63:6789,10.132.4.64:6789:/",
                                           "10.132.4.63", "10.132.4.63", ""});
}

TEST_CASE("9p has a server only over TCP") {
  CHECK(share_of(k9p) == NetworkShare{"9p 2000.L", "virtio", "hostshare", "", "", ""});
  CHECK(share_of(k9pTcp) ==
        NetworkShare{"9p 2000.L", "tcp", "10.1.2.7", "10.1.2.7", "10.1.2.7", ""});
}

TEST_CASE("FUSE mounts are network mounts by type or by source, without the user") {
  CHECK(share_of(kSshfs) == NetworkShare{"sshfs", "", "nas:/srv", "nas", "", ""});
  CHECK(share_of(kGluster) == NetworkShare{"glusterfs", "", "gl1:/vol", "gl1", "", ""});
  CHECK(share_from("fuse.new", "ben@nas:").source == "nas:");
  CHECK(share_from("fuse.new", "ben@[fd00::1]:/a@b").source == "[fd00::1]:/a@b");
  CHECK(share_from("fuse.new", "nas:/a").protocol == "new");
  CHECK(share_from("fuse.smbnetfs", "//ben:secret@nas/a").source == "//nas/a");
  CHECK(share_from("fuse", "https://ben:secret@nas:8080/a") ==
        NetworkShare{"https", "", "https://nas:8080/a", "nas", "", ""});
  CHECK(share_from("fuse", "https://nas").server == "nas");
}

TEST_CASE("local file systems are no shares") {
  CHECK(is_local("ext4", "/dev/sda1"));
  CHECK(is_local("overlay", "overlay"));
  CHECK(is_local("tmpfs", "nas:/a"));
  CHECK(is_local("fuseblk", "/dev/sdb1"));
  CHECK(is_local("fuse.mergerfs", "disk1:disk2"));
  CHECK(is_local("fuse.mergerfs", "/mnt/a:/mnt/b"));
  CHECK(is_local("fuse.bindfs", "/srv/a@b"));
  CHECK(is_local("fuse", "MemoryFS"));
  CHECK(is_local("fuse.gvfsd-fuse", "gvfsd-fuse"));
}

TEST_CASE("odd sources of network mounts are kept as they are") {
  for (const char* const source :
       {"none", "@", ":", "[", "[::1", "//", "://", ":/a", "a@", "nas:"}) {
    CAPTURE(source);
    CHECK(share_from("nfs4", source).protocol == "nfs");
    CHECK(share_from("lustre", source).address.empty() == !std::string(source).contains("::1"));
  }
  CHECK(share_from("cifs", "//ben@nas/a").server == "nas");
}

TEST_CASE("passwords and accounts are no options of a result") {
  CHECK(options_without_account(parse_mount(kSmb)->options) ==
        "rw,relatime,vers=3.1.1,sec=ntlmssp,cache=strict,uid=1000,forceuid,gid=0,noforcegid,"
        "addr=192.168.7.10,file_mode=0755,dir_mode=0755,soft,nounix,serverino,mapposix,"
        "rsize=4194304,wsize=4194304,bsize=1048576,echo_interval=60,actimeo=1,closetimeo=1");
  CHECK(options_without_account("password=a,pass=b,rw,secret=c,credentials=/d,key=e") == "rw");
  CHECK(options_without_account("rw,user_id=0,user_xattr,user") == "rw,user_id=0,user_xattr,user");
  CHECK(options_without_account("").empty());
}

TEST_CASE("the link is the interface on the route to the server, with the kernel's speed") {
  const SysfsTree tree;
  NetworkShare share = share_from("nfs4", "127.0.0.1:/a");
  find_link(share, tree.sources().sys);
  CHECK(share.interface == "lo");
  CHECK_FALSE(share.link_mbit_per_s);
  CHECK(share_layers(share) == Layers{"nfs", "lo"});
  for (const auto& [speed, known] : {std::pair{"1000\n", 1000}, {"-1\n", 0}, {"Unknown\n", 0}}) {
    tree.file("class/net/lo/speed", speed);
    share.link_mbit_per_s.reset();
    find_link(share, tree.sources().sys);
    CHECK(share.link_mbit_per_s.value_or(0) == known);
  }
  share.link_mbit_per_s = 25'000;
  CHECK(share_layers(share) == Layers{"nfs", "lo 25000 Mbit/s"});
}

TEST_CASE("without an address there is no link") {
  NetworkShare share = share_from("nfs4", "localhost:/a");
  find_link(share);
  CHECK(share.interface.empty());
  CHECK(share_layers(share) == Layers{"nfs"});
}

}  // namespace
}  // namespace filereel
