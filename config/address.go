package config

import (
	"errors"
	"net"
	"net/url"
	"strconv"
)

// adminOff is what LIAISON_ADMIN_ADDR is set to for no such listener.
const adminOff = "off"

// buildAddresses reads where the service listens and how it is reached.
func buildAddresses(c *Config, v *values, p *problems) {
	c.Addr = v.textOf(EnvAddr)
	host, port, err := net.SplitHostPort(c.Addr)
	if err != nil {
		p.add(EnvAddr, "%q is not host:port, such as 127.0.0.1:8080", c.Addr)
	}
	portFrom := EnvAddr
	if s := v.textOf(EnvPort); s != "" {
		port, portFrom = s, EnvPort
		c.Addr = net.JoinHostPort(host, port)
	}
	if err == nil && !validPort(port) {
		p.add(portFrom, "%q is not a port number from 0 to 65535", port)
	}

	given, set := v.get(EnvAdminAddr)
	c.AdminAddr, c.AdminAddrGiven = v.textOf(EnvAdminAddr), set && given != ""
	if c.AdminAddr == adminOff {
		c.AdminAddr = ""
	} else if _, port, err := net.SplitHostPort(c.AdminAddr); err != nil {
		p.add(EnvAdminAddr, "%q is neither host:port, such as 127.0.0.1:8081, nor off", c.AdminAddr)
	} else if !validPort(port) {
		p.add(EnvAdminAddr, "%q is not a port number from 0 to 65535", port)
	}

	if s := v.textOf(EnvPublicURL); s != "" {
		if c.PublicURL, err = parseHTTPURL(s); err != nil {
			p.add(EnvPublicURL, "%v", err)
		}
	}
}

func validPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

// AdminAddrIsLocal reports whether only this machine reaches the admin listener.
func (c *Config) AdminAddrIsLocal() bool {
	host, _, err := net.SplitHostPort(c.AdminAddr)
	return err == nil && loopback(host)
}

func parseHTTPURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, errors.New("is not an http or https URL")
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("must be a plain URL, without credentials, query or fragment")
	}
	return u, nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}
